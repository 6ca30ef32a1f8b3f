//! The words of friendly names: short, plain, kind, in lower case.

#[rustfmt::skip]
pub(crate) const ADJECTIVES: [&str; 162] = [
    "able", "active", "adept", "agile", "airy", "alert", "amber", "ample", "amused", "ardent", "artful",
    "astute", "avid", "azure", "balmy", "beaming", "blithe", "bold", "brave", "breezy", "bright", "brisk",
    "bubbly", "calm", "candid", "careful", "caring", "cheery", "chipper", "civil", "clean", "clear",
    "clever", "cogent", "cool", "cordial", "cosmic", "cosy", "crisp", "curious", "dapper", "daring", "dear",
    "deft", "devoted", "direct", "driven", "dulcet", "eager", "early", "earnest", "elegant", "epic",
    "exact", "expert", "fair", "faithful", "famous", "fast", "fearless", "fine", "fleet", "fluent", "fond",
    "frank", "fresh", "friendly", "game", "generous", "gentle", "genuine", "giving", "glad", "gleeful",
    "golden", "graceful", "grand", "grateful", "great", "growing", "handy", "happy", "hardy", "hearty",
    "helpful", "honest", "hopeful", "humble", "ideal", "jolly", "jovial", "joyful", "just", "keen", "kind",
    "lasting", "lively", "logical", "loved", "loyal", "lucid", "lucky", "magical", "merry", "mighty",
    "mint", "modest", "musical", "natural", "neat", "nice", "nimble", "noble", "open", "optimal", "patient",
    "peaceful", "perky", "placid", "polite", "prompt", "proper", "proud", "quick", "quiet", "rapid",
    "ready", "regal", "relaxed", "robust", "rosy", "sincere", "skilful", "smart", "smiling", "snug",
    "social", "soft", "solid", "sound", "sparkling", "spry", "stable", "steady", "sunny", "superb", "sure",
    "sweet", "swift", "tender", "thankful", "tidy", "true", "trusty", "upbeat", "valiant", "vivid", "warm",
    "wise", "witty", "worthy", "zesty",
];

#[rustfmt::skip]
pub(crate) const ANIMALS: [&str; 233] = [
    "aardvark", "albatross", "alpaca", "anchovy", "ant", "anteater", "antelope", "armadillo", "auk",
    "axolotl", "badger", "barnacle", "bass", "bat", "beagle", "bear", "beaver", "bee", "beetle", "bison",
    "blackbird", "bluebird", "bluejay", "boar", "bobcat", "bonobo", "buffalo", "bumblebee", "bunny",
    "butterfly", "buzzard", "camel", "capybara", "cardinal", "caribou", "cat", "catfish", "cheetah",
    "chickadee", "chicken", "chinchilla", "chipmunk", "cicada", "civet", "clam", "cod", "collie", "corgi",
    "cougar", "coyote", "crab", "crane", "cricket", "crow", "cuckoo", "curlew", "deer", "dingo", "dolphin",
    "donkey", "dove", "dragonfly", "duck", "eagle", "egret", "eland", "elephant", "elk", "emu", "ermine",
    "falcon", "ferret", "finch", "firefly", "flamingo", "flounder", "fox", "frog", "gazelle", "gecko",
    "gibbon", "giraffe", "gnu", "goat", "goldfinch", "goose", "gopher", "grouse", "guppy", "haddock",
    "hamster", "hare", "hawk", "hedgehog", "heron", "herring", "hippo", "horse", "hound", "hummingbird",
    "husky", "ibex", "ibis", "iguana", "impala", "jackal", "jaguar", "jay", "jellyfish", "kangaroo",
    "kestrel", "kingfisher", "kite", "kitten", "kiwi", "koala", "ladybird", "lamb", "lark", "lemming",
    "lemur", "leopard", "lion", "lizard", "llama", "lobster", "lynx", "macaw", "mackerel", "magpie",
    "mallard", "manatee", "marlin", "marmot", "marten", "meerkat", "mink", "minnow", "mole", "mongoose",
    "moose", "mouse", "mule", "narwhal", "newt", "nightingale", "ocelot", "octopus", "okapi", "orca",
    "oriole", "osprey", "ostrich", "otter", "owl", "ox", "oyster", "panda", "panther", "parrot",
    "partridge", "peacock", "pelican", "penguin", "perch", "pheasant", "pigeon", "pika", "platypus",
    "polecat", "pony", "poodle", "porcupine", "porpoise", "possum", "puffin", "puma", "quail", "quokka",
    "rabbit", "raccoon", "ram", "raven", "redfish", "reindeer", "robin", "rooster", "salmon", "sardine",
    "seahorse", "seal", "sheep", "shrew", "skink", "sloth", "snail", "spaniel", "sparrow", "squid",
    "squirrel", "starfish", "starling", "stingray", "stoat", "stork", "sturgeon", "swallow", "swan",
    "tapir", "tern", "terrier", "thrush", "tiger", "toad", "tortoise", "toucan", "treefrog", "trout",
    "tuna", "turtle", "vole", "wallaby", "walrus", "weasel", "whale", "whippet", "wolf", "wolverine",
    "wombat", "woodpecker", "wren", "yak", "zebra",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn word_lists_are_long_enough_and_without_duplicates() {
        for words in [ADJECTIVES.as_slice(), ANIMALS.as_slice()] {
            assert!(words.len() >= 128, "{}", words.len());
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
            assert!(words.iter().all(|word| word.bytes().all(|letter| letter.is_ascii_lowercase())));
        }
    }
}
