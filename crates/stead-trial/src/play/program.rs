//! Programs of a play: resources that change, are renamed, retained and imported, and use each other.

use stead_model::{
    DeletionPolicy, Expr, Graph, Input, Inputs, Map, Name, Node, NodeId, NodeKind, Options, PhysicalId,
    SecretInput, SourceRef, TypeToken, Value,
};

use crate::{Rng, secret};

/// A declared resource. Its title identifies it across renames.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlayResource {
    pub title: String,
    pub name: String,
    pub size: i64,
    pub place: u64,
    /// Earlier resource whose key it uses.
    pub from: Option<String>,
    pub aliases: Vec<String>,
    pub import: Option<String>,
    /// Number of the first secret of the play.
    pub first_secret: u64,
}

impl PlayResource {
    /// Returns the password, which a third of the resources have. It changes with the size.
    pub(super) fn password(&self) -> Option<String> {
        let number = number(&self.title);
        (number % 3 == 1).then(|| secret::numbered(self.first_secret + number * 8 + self.size as u64))
    }

    /// Returns true if only one object of this resource may exist at a time: it is replaced delete-first.
    pub(super) fn is_exclusive(&self) -> bool {
        number(&self.title) % 4 == 1
    }

    /// Returns true if the object is retained when its declaration is removed.
    pub(super) fn is_kept(&self) -> bool {
        number(&self.title) % 5 == 2 && !self.is_exclusive()
    }

    pub(super) fn inputs(&self) -> Map {
        let password = self.password().map(|password| ("password".to_owned(), Value::from(password)));
        let others = [
            ("title".to_owned(), Value::from(self.title.as_str())),
            ("size".to_owned(), Value::from(self.size)),
            ("place".to_owned(), Value::from(format!("p{}", self.place))),
            ("exclusive".to_owned(), Value::from(self.is_exclusive())),
            ("keep".to_owned(), Value::from(self.is_kept())),
        ];
        others.into_iter().chain(password).collect()
    }
}

fn number(title: &str) -> u64 {
    title.trim_start_matches('t').parse().unwrap_or(0)
}

/// The declared resources, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct PlayProgram {
    pub resources: Vec<PlayResource>,
    titles: u64,
    first_secret: u64,
}

impl PlayProgram {
    pub(super) fn draw(rng: &mut Rng, seed: u64) -> PlayProgram {
        let mut program = PlayProgram { first_secret: seed << 10, ..PlayProgram::default() };
        (0..2 + rng.below(6)).for_each(|_| program.add(rng));
        program
    }

    /// Returns a new title; titles are never reused.
    pub(super) fn new_title(&mut self) -> String {
        self.titles += 1;
        format!("t{}", self.titles)
    }

    /// Returns a new resource of size 1 at the first place, which is made from an existing object.
    pub(super) fn imported(&mut self, id: String) -> PlayResource {
        let title = self.new_title();
        PlayResource {
            name: title.clone(),
            title,
            size: 1,
            place: 0,
            from: None,
            aliases: Vec::new(),
            import: Some(id),
            first_secret: self.first_secret,
        }
    }

    fn add(&mut self, rng: &mut Rng) {
        let title = self.new_title();
        let from = rng.one_in(2).then(|| rng.pick(&self.resources).map(|resource| resource.title.clone()));
        let mut resource = PlayResource {
            name: title.clone(),
            title,
            size: rng.below(5) as i64,
            place: rng.below(3),
            from: from.flatten(),
            aliases: Vec::new(),
            import: None,
            first_secret: self.first_secret,
        };
        // A retained resource cannot be replaced early, and the guards would refuse the plan.
        resource.from.take_if(|_| number(&resource.title) % 5 == 2);
        self.resources.push(resource);
    }

    /// Applies one to three random edits, as between two commits.
    pub(super) fn edit(&mut self, rng: &mut Rng) {
        for _ in 0..1 + rng.below(3) {
            let index = rng.below(self.resources.len().max(1) as u64) as usize;
            match (rng.below(6), self.resources.get_mut(index)) {
                (0 | 1, _) | (_, None) => self.add(rng),
                (2, Some(_)) => {
                    let gone = self.resources.remove(index).title;
                    for resource in &mut self.resources {
                        resource.from.take_if(|from| *from == gone);
                    }
                }
                (3, Some(resource)) => {
                    resource.place = rng.below(3);
                    resource.import = None; // a replacement is not the imported object
                }
                (_, Some(resource)) => resource.size = rng.below(5) as i64,
            }
        }
    }

    pub(super) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let position = |title: &String| self.resources.iter().position(|resource| resource.title == *title);
        for (line, resource) in self.resources.iter().enumerate() {
            let source = SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 };
            let mut inputs: Inputs =
                resource.inputs().into_iter().map(|(key, value)| (key, value.into())).collect();
            if let Some(password) = inputs.remove("password") {
                let (from, needs, value) = ("`stead.secret`".into(), Vec::new(), SecretInput::new(password));
                let secret = Expr::Secret { from, source: source.clone(), needs, value };
                inputs.insert("password", Input::Deferred(graph.exprs.push(secret)));
            }
            if let Some(node) = resource.from.as_ref().and_then(position).map(|at| NodeId(at as u32)) {
                let expr = Expr::Property { node, property: "key".into() };
                inputs.insert("from", Input::Deferred(graph.exprs.push(expr)));
            }
            let Some(own) = name(&resource.name) else { continue };
            graph.nodes.push(Node {
                name: own,
                ty: TypeToken("play.Thing".into()),
                kind: NodeKind::Provisioned,
                parent: None,
                inputs,
                options: Options {
                    delete_before_replace: resource.is_exclusive().then_some(true),
                    deletion_policy: resource.is_kept().then_some(DeletionPolicy::Retain),
                    aliases: resource.aliases.iter().filter_map(|alias| name(alias)).collect(),
                    import: resource.import.clone().map(PhysicalId),
                    ..Options::default()
                },
                source,
                marks: Default::default(),
            });
        }
        graph
    }
}

pub(super) fn name(text: &str) -> Option<Name> {
    format!("dev:main:play.Thing#{text}").parse().ok()
}
