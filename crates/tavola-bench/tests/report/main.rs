//! The report page: its HTML as such, and in a headless Chromium where one is installed.

mod browser;
mod html;
mod look;
mod sample;
