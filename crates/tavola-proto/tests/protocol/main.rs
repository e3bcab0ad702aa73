//! All tests of the protocols, in one program: each is compiled and linked by itself.

mod answers;
mod answers_binary;
mod answers_meta;
mod answers_text;
mod asks;
mod binary;
mod empty_server;
mod meta;
mod meta_observed;
mod meta_plan;
mod numbers;
mod password;
mod round_trips_of_answers;
mod round_trips_of_asks;
mod splits;
mod splits_of_answers;
mod text;
mod text_observed;
