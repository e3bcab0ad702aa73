//! What clients of Redis are answered: our service over a table. The same is compared with Redis
//! itself, for random commands, by `clients/redis/differential.py`.

mod caches;
mod commands;
mod connection;
mod hostile;
mod script;
mod sharing;
