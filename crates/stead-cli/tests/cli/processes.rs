//! Tests of real processes: repeated kills, simultaneous runs, a full disk, interrupts.
//!
//! The built-in provider creates files; scripts stand for a remote provider. Each script creates one object in a folder
//! that stands for the cloud. The operation's idempotency key is its name, so that a duplicate or a lost object shows. In
//! `crowd` the remote provider is AWS, and its cloud is a process that is killed, too.

mod crowd;
mod crowd_cloud;
mod crowd_program;
mod full_disk;
mod groups;
mod interrupts;
mod random_program;
mod repeated_kills;
mod simultaneous_runs;
