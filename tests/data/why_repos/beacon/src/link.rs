/// One radio link.
pub struct RadioLink {
    pub channel: u8,
}

pub fn hop_channel(link: &mut RadioLink) {
    link.channel += 1;
}
