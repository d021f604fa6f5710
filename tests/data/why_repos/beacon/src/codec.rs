/// A frame on the wire.
pub struct Frame {
    pub body: Vec<u8>,
}

pub fn encode_frame(frame: &Frame) -> Vec<u8> {
    frame.body.clone()
}

pub fn decode_frame(bytes: &[u8]) -> Frame {
    Frame { body: bytes.to_vec() }
}
