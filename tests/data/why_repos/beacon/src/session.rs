pub struct Session {
    pub id: u64,
}

pub enum SessionState {
    Open,
    Closed,
}
