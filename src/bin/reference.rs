//! `attnscope-reference`: the f64 reference as a native command. Browser tests judge by it what
//! the page drew, and `tests/parity` what other libraries compute; it also packs the shipped
//! inputs. On wasm32 there is nothing here.

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    match native::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::io::{BufRead, Write};
    use std::path::Path;

    use attnscope_attention::config::Config;
    use attnscope_attention::layer::{Biases, Layer, Output, fresh_id};
    use attnscope_attention::low_rank::{energy_kept, factor_output, output_error, weight_error};
    use attnscope_attention::output::{component_energies, head_outputs, layer_output};
    use attnscope_attention::reference::Head;
    use attnscope_attention::summary::{Summary, summarize_head};
    use attnscope_data::case::Case;
    use attnscope_data::pack::pack;
    use attnscope_data::synthetic::synthetic;
    use attnscope_data::{folder, minilm};
    use attnscope_scene::key_count::torch_mask;
    use attnscope_scene::link_words::Word as _;
    use attnscope_scene::resolve::Sizes;
    use attnscope_scene::{Lang, Quantity, Scene, Source};
    use attnscope_text::sentence::{SentenceInput, sentence};
    use attnscope_text::symbols::written;
    use serde_json::{Value, json};

    const USAGE: &str = "usage:
  attnscope-reference map [<fragment> …]
      For each scene (a URL fragment; from standard input, one a line, when none is given) one line
      of JSON: rows, cols, values (weights or raw scores of the scene's head and rectangle,
      row-major, 0 where masked), visible (1 where there is a number, or 0), head, sentence {en, zh, …}, summary, warnings;
      cell when the scene locks one; output {rank, energy, weight_error, error} when it has an
      output rank. Shipped layers are read from www/data of the present folder.
  attnscope-reference attend <case file> [<fragment> …]
      O and A of the layer in a file of the form of a golden case, one line of JSON per scene, which
      chooses mechanism, window, scale and biases; without one, as the file itself chooses: o
      [heads, L, head_dim], a [heads, L, L] (flat), left, right, causal, scale, torch_mask, warnings.
  attnscope-reference pack-data <folder of captured files> <folder to write>";

    /// Summaries of a whole head are left out beyond this L, as on the page.
    const MAX_SUMMARY_LEN: usize = 2048;

    pub fn run() -> Result<(), String> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        match *args {
            ["pack-data", source, target] => {
                for (path, size) in pack(Path::new(source), Path::new(target))? {
                    println!("{size:>8} {}", path.display());
                }
                Ok(())
            }
            ["map"] => std::io::stdin()
                .lock()
                .lines()
                .try_for_each(|line| print(&line.map_err(|e| e.to_string())?)),
            ["map", ref fragments @ ..] => {
                fragments.iter().try_for_each(|fragment| print(fragment))
            }
            ["attend", file, ref fragments @ ..] => attend(Path::new(file), fragments),
            _ => Err(USAGE.to_owned()),
        }
    }

    fn print(fragment: &str) -> Result<(), String> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", judge(fragment)?).map_err(|e| e.to_string())
    }

    /// The layer of a case under the choices of each scene, or under its own.
    fn attend(path: &Path, fragments: &[&str]) -> Result<(), String> {
        let at = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let bytes = std::fs::read(path).map_err(|e| at(&e))?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let case = Case::parse_inputs("", &bytes, |input, tensor| {
            folder::resolve(beside, input, tensor)
        })
        .map_err(|e| at(&e))?;
        let mut out = std::io::stdout().lock();
        if fragments.is_empty() {
            let answer = attended(&case.layer, &case.config, &case.biases)?;
            return writeln!(out, "{answer}").map_err(text);
        }
        let sizes = Sizes::from(&case.layer);
        for fragment in fragments {
            let parsed = Scene::from_fragment(fragment);
            let (config, biases) = (parsed.scene.config(sizes), parsed.scene.biases(sizes));
            let mut answer = attended(&case.layer, &config, &biases)?;
            answer["warnings"] = json!(parsed.warnings.len());
            writeln!(out, "{answer}").map_err(text)?;
        }
        Ok(())
    }

    fn attended(layer: &Layer, config: &Config, biases: &Biases) -> Result<Value, String> {
        let (mut o, mut a) = (Vec::new(), Vec::new());
        for at in 0..layer.heads {
            let head = Head::new(layer, config, biases, at).map_err(text)?;
            a.extend(head.map().weights);
            o.extend(head.output().map_err(text)?);
        }
        let rule = &config.visibility;
        Ok(json!({
            "o": o, "a": a, "left": rule.left, "right": rule.right, "causal": rule.causal,
            "scale": config.scale, "torch_mask": torch_mask(rule), "warnings": 0,
        }))
    }

    /// What the reference says about one scene.
    fn judge(fragment: &str) -> Result<Value, String> {
        let parsed = Scene::from_fragment(fragment);
        let scene = parsed.scene;
        let (layer, tokens) = load(&scene.source)?;
        let layer = scene.taken(layer);
        let sizes = Sizes::from(&layer);
        let (config, biases) = (scene.config(sizes), scene.biases(sizes));
        let at = scene.head(layer.heads);
        let head = Head::new(&layer, &config, &biases, at).map_err(text)?;

        let rect = scene.rect(layer.seq_len);
        let columns = rect.col as usize..(rect.col + rect.cols) as usize;
        let cells = rect.rows as usize * rect.cols as usize;
        let (mut values, mut visible) = (vec![0.0; cells], vec![0u8; cells]);
        for i in 0..rect.rows as usize {
            let row = head.row(rect.row as usize + i);
            let numbers = match scene.view.quantity {
                Quantity::Weights => &row.weights[..],
                // Where no key is seen there is no score, even if there is a weight.
                Quantity::Score => &row.score[..row.seen],
            };
            for (&j, &number) in row.keys.iter().zip(numbers) {
                if columns.contains(&j) {
                    let cell = i * columns.len() + j - columns.start;
                    (values[cell], visible[cell]) = (number, 1);
                }
            }
        }
        let mut answer = json!({
            "rows": rect.rows,
            "cols": rect.cols,
            "values": values,
            "visible": visible,
            "head": at,
            "warnings": parsed.warnings.len(),
        });
        if let Some((i, j)) = scene.cell(layer.seq_len) {
            let cell = head.cell(i, j);
            answer["cell"] = json!({
                "visible": cell.visible, "qk": cell.qk, "qp": cell.qp, "s": cell.s,
                "score": cell.score, "weight": cell.weight, "row_sum": cell.row_sum,
                "visible_keys": cell.visible_keys,
            });
        }
        let output = output(&scene, &layer)?;
        if layer.seq_len <= MAX_SUMMARY_LEN {
            let row = scene.cell(layer.seq_len).map(|(row, _)| row);
            let summary = summarize_head(&head, row).map_err(text)?;
            let energy = output.as_ref().map(|(rank, energy, _)| (*rank, *energy));
            answer["sentence"] = sentences(&scene, at, &summary, &tokens, energy);
            answer["summary"] = serde_json::to_value(&summary).map_err(text)?;
        }
        if let Some((_, _, facts)) = output {
            answer["output"] = facts;
        }
        Ok(answer)
    }

    /// The scene's layer and its tokens.
    fn load(source: &Source) -> Result<(Layer, Vec<String>), String> {
        match *source {
            Source::MiniLm { text, layer } => {
                let files = minilm::files(text, layer);
                let [hidden, qk, vo] = [files.hidden, files.qk, files.vo].map(|name| {
                    let path = Path::new("www/data").join(name);
                    std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
                });
                let named = minilm::assemble(layer, &hidden?, &qk?, &vo?)
                    .map_err(|e| format!("a file of layer {layer}: {e}"))?;
                Ok((named.layer, named.tokens.to_vec()))
            }
            Source::Synthetic {
                pattern,
                seq_len,
                seed,
            } => {
                let made = synthetic(pattern, seq_len as usize, seed, fresh_id());
                Ok((made.layer, made.tokens))
            }
        }
    }

    fn sentences(
        scene: &Scene,
        head: usize,
        summary: &Summary,
        tokens: &[String],
        rank_energy: Option<(u32, f64)>,
    ) -> Value {
        let rule = scene.visibility();
        let facts = SentenceInput {
            scene,
            head: head as u32,
            summary,
            tokens,
            reach: (rule.left, rule.right),
            rank_energy,
        };
        Lang::WORDS
            .iter()
            .map(|&(lang, word)| (word.to_owned(), written(&sentence(lang, &facts)).into()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// Output rank, energy kept, and all facts of the rank, if the scene has one. Y at the rank is
    /// computed in full; the page takes a shorter way.
    fn output(scene: &Scene, layer: &Layer) -> Result<Option<(u32, f64, Value)>, String> {
        let (Some(rank), Output::Full(w_o)) = (scene.cjar.out_rank, &layer.output) else {
            return Ok(None);
        };
        let sizes = Sizes::from(layer);
        let (mut config, biases) = (scene.config(sizes), scene.biases(sizes));
        let factors = factor_output(&w_o.weight).map_err(text)?;
        let sigma: Vec<f32> = factors.sigma.iter().map(|&s| s as f32).collect();
        let o = head_outputs(layer, &config, &biases).map_err(text)?;
        config.out_rank = None;
        let y = layer_output(layer, &config, &o, None).map_err(text)?;
        config.out_rank = Some(rank);
        let cut = layer_output(layer, &config, &o, Some(&factors)).map_err(text)?;
        let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>();
        let whole = norm(&mut y.iter().copied());
        let off = norm(&mut y.iter().zip(&cut).map(|(a, b)| a - b));
        let energies: Vec<f32> = component_energies(layer, &o, &factors)
            .iter()
            .map(|&e| e as f32)
            .collect();
        let energy = energy_kept(&sigma, rank as usize);
        let facts = json!({
            "rank": rank,
            "energy": energy,
            "weight_error": weight_error(&sigma, rank as usize),
            "error": (off / whole).sqrt(),
            "error_by_components": output_error(&sigma, &energies, whole, rank as usize),
        });
        Ok(Some((rank, energy, facts)))
    }

    #[allow(clippy::needless_pass_by_value)] // the shape that map_err wants
    fn text(error: impl std::fmt::Display) -> String {
        error.to_string()
    }
}
