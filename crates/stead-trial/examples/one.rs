//! one life
fn main() {
    let s: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    match stead_trial::live(s) {
        Ok(l) => println!("{}", l.trace.join("\n")),
        Err(e) => println!("{e}"),
    }
}
