pub mod codec;
pub mod link;
pub mod session;
