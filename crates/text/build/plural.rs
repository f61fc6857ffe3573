//! Plural rules as Unicode's CLDR writes them (`n % 10 = 2..4 and n % 100 != 12..14`) as Rust.
//! The page counts whole things only: `i` is `n`, and the operands of decimals are 0.

/// The Rust condition over `n` of a CLDR rule.
///
/// # Errors
/// With the part of the rule that is not understood.
pub fn condition(rule: &str) -> Result<String, String> {
    let either: Result<Vec<_>, _> = rule.split(" or ").map(all_of).collect();
    Ok(either?.join(" || "))
}

fn all_of(text: &str) -> Result<String, String> {
    let all: Result<Vec<_>, _> = text.split(" and ").map(relation).collect();
    Ok(all?.join(" && "))
}

fn relation(text: &str) -> Result<String, String> {
    let broken = || format!("“{}” is no plural rule", text.trim());
    let (left, right) = text.split_once('=').ok_or_else(broken)?;
    let (left, not) = match left.trim_end().strip_suffix('!') {
        Some(left) => (left, "!"),
        None => (left, ""),
    };
    let (operand, modulo) = match left.split_once('%') {
        Some((operand, modulo)) => {
            let modulo: u32 = modulo.trim().parse().map_err(|_| broken())?;
            if modulo == 0 {
                return Err(broken());
            }
            (operand, format!(" % {modulo}"))
        }
        None => (left, String::new()),
    };
    let operand = match operand.trim() {
        "n" | "i" => "n",
        "v" | "w" | "f" | "t" | "c" | "e" => "0_u64",
        _ => return Err(broken()),
    };
    let mut values = Vec::new();
    for part in right.split(',') {
        let (from, to) = part.split_once("..").unwrap_or((part, part));
        let from: u32 = from.trim().parse().map_err(|_| broken())?;
        let to: u32 = to.trim().parse().map_err(|_| broken())?;
        values.push(format!("{from}..={to}"));
    }
    Ok(format!(
        "{not}matches!({operand}{modulo}, {})",
        values.join(" | ")
    ))
}
