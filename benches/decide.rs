//! Deployment: one decision from a memory in the process, and blocks of decisions that are on disk before they are answered.

mod measure;

use counterfair::fair::{Deployment, HISTORY, MemoryFile};
use counterfair::notebook::prelude::*;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use measure::processor_time::{ProcessorTime, criterion};

/// People who are decided about in turn, all in one block.
const PEOPLE: usize = 1_000;

fn decisions(c: &mut Criterion<ProcessorTime>) {
    let world = Linear::new(1.0);
    let people = People::from(simulate(&world, &Exogenous::draw(&world, 400, 8, Stream::new(1))));
    let policy = Learner { splits: 0, ..Learner::new(Method::Ours) }.learn(&people).expect("a policy");
    let first: Vec<Request> = (0..PEOPLE).map(|i| Request::first(i.to_string(), "1", [0.4])).collect();
    let next: Vec<Request> = (0..PEOPLE).map(|i| Request::after(i.to_string(), "1", "1", [-0.2])).collect();

    let mut desk = policy.clone().deploy();
    desk.decide_all(&first).expect("people met for the first time");
    c.bench_function("decide/in memory/one", |b| b.iter(|| desk.decide(&next[0]).expect("a decision")));

    let folder = std::env::temp_dir().join(format!("counterfair-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    let memory = MemoryFile::open(folder.join("people.memory"), &policy, HISTORY).expect("a memory of our own");
    let mut desk = Deployment::with_memory(policy, memory);
    desk.decide_all(&first).expect("people met for the first time");
    let mut group = c.benchmark_group("decide/durable");
    group.throughput(Throughput::Elements(PEOPLE as u64));
    group.bench_function(format!("block={PEOPLE}"), |b| b.iter(|| desk.decide_all(&next).expect("decisions")));
    group.finish();
    drop(desk);
    let _ = std::fs::remove_dir_all(&folder);
}

criterion_group! { name = benches; config = criterion(); targets = decisions }
criterion_main!(benches);
