//! Converts messages to bytes and back, with the reasons why bytes are not a message.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The bytes are not a message of the wanted type.
    Malformed,
    /// The message names a blob that is missing or has another length.
    MissingTensor,
    /// The message builds on a Frame that this side does not have.
    MissingFrame,
    /// A tensor does not fit its layer.
    Misfit(String),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the message was not understood"),
            Self::MissingTensor => f.write_str("numbers are missing"),
            Self::MissingFrame => f.write_str("the message refers to a Frame that never came"),
            Self::Misfit(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ProtocolError {}

/// The bytes of `message`. Empty, which [`decode`] refuses, only if a type cannot be serialized: no
/// protocol here has such a type.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(message).unwrap_or_default()
}

/// The message in `bytes`.
///
/// # Errors
/// [`ProtocolError::Malformed`] when they are something else, less, or more than one message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProtocolError> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(ProtocolError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Message = (u32, String, Vec<u64>);

    #[test]
    fn bytes_that_are_left_over_or_missing_are_refused() {
        let message = (3u32, "text".to_owned(), vec![1u64, 2, 3]);
        let bytes = encode(&message);
        assert_eq!(decode(&bytes), Ok(message));
        for end in 0..bytes.len() {
            assert_eq!(
                decode::<Message>(&bytes[..end]),
                Err(ProtocolError::Malformed)
            );
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(decode::<Message>(&longer), Err(ProtocolError::Malformed));
    }

    #[test]
    fn a_length_beyond_the_message_is_refused_and_not_allocated() {
        // A sequence of 2⁶³ declared numbers without any data.
        let length = encode(&(u64::MAX / 2));
        assert_eq!(decode::<Vec<u64>>(&length), Err(ProtocolError::Malformed));
        assert_eq!(decode::<String>(&length), Err(ProtocolError::Malformed));
    }
}
