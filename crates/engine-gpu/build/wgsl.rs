//! Shader text without the parts that only people read.

/// WGSL without comments, indentation and empty lines. WGSL has no strings that could contain `//`,
/// and the shaders have no block comments.
pub fn short(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let code = line.split_once("//").map_or(line, |(code, _)| code);
        code.trim()
    });
    let code: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    code.join("\n")
}
