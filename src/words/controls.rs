//! Words of the controls.

use super::{Text, texts};
use crate::attention::config::Reading;
use crate::scene::{BiasShape, Convention, Mechanism};

texts! {
    MECHANISM: "Mechanism", "注意力机制";
    FULL: "Full", "全注意力";
    FULL_HINT: "every token sees every token", "每个词元看到所有词元";
    WINDOW: "Sliding window", "滑动窗口";
    WINDOW_HINT: "every token sees its neighbourhood", "每个词元只看到邻近部分";
    CJAR: "CJAR", "CJAR";
    CJAR_HINT: "position bias, segments, low rank", "位置偏置、分段归一化、低秩";
    CAUSAL: "Causal mask", "因果掩码";
    CAUSAL_HINT: "no key after the query", "不看查询之后的键";
    CAUSAL_BY_CONVENTION: "set by the convention", "由约定决定";
    INSIDE_WINDOW: "Inside a window", "限制在窗口内";
    SIZE: "Window size w", "窗口大小 w";
    CONVENTION: "What w means", "w 的含义";
    DISTANCE: "distance: (w, w)", "距离：(w, w)";
    CAUSAL_DISTANCE: "causal distance: (w, 0)", "因果距离：(w, 0)";
    CAUSAL_COUNT: "causal count: (w−1, 0)", "因果计数：(w−1, 0)";
    LONGFORMER: "Longformer: (⌊w/2⌋, ⌊w/2⌋)", "Longformer:(⌊w/2⌋, ⌊w/2⌋)";
    EXPLICIT: "explicit (left, right)", "直接给出（左, 右）";
    DISTANCE_WHO: "the partial-attention text", "部分注意力原文";
    CAUSAL_DISTANCE_WHO: "attention-gym", "attention-gym";
    CAUSAL_COUNT_WHO: "Hugging Face, Mistral, onnxruntime", "Hugging Face、Mistral、onnxruntime";
    LONGFORMER_WHO: "attention_window", "attention_window";
    EXPLICIT_WHO: "flash-attn, jax", "flash-attn、jax";
    REACH: "({left}, {right}) · {keys} keys a row · {share} of full", "({left}, {right}) · 每行 {keys} 个键 · 全注意力的 {share}";
    LEFT: "Left", "左";
    RIGHT: "Right", "右";
    UNLIMITED: "unlimited", "不限";
    SINKS: "Sinks", "汇聚键";
    SINKS_HINT: "first keys that stay visible to all", "开头若干键对所有查询可见";
    GLOBALS: "Global tokens", "全局词元";
    GLOBALS_HINT: "see all and are seen by all", "看到所有，也被所有看到";
    DILATION: "Dilation", "空洞间隔";
    DILATION_HINT: "only every n-th offset is near", "只保留间隔为 n 的偏移";
    MORE_MASK: "More about the mask", "掩码的更多选项";
    PADDING: "Padding", "填充";
    PADDING_HINT: "last tokens that no query sees", "末尾若干词元不被任何查询看到";
    EMPTY_MEAN: "Empty rows get the mean", "空行取平均";
    EMPTY_MEAN_HINT: "a row that sees no key gets the mean of all values, as a mask of −1e9 makes it", "看不到任何键的行得到所有值的平均，如同用 −1e9 作掩码";
    PROJECTED: "Projections W_Q, W_K, W_V", "投影 W_Q、W_K、W_V";
    PROJECTED_HINT: "off: q = k = v = X, split into heads", "关闭：q = k = v = X，切分为各头";
    S_DENSE: "Random s", "随机 s";
    S_DENSE_HINT: "a number of its own for every head, query and key, instead of the curve", "每个头、查询、键各有一个数，取代曲线";
    S_DENSE_ON: "s is random, with standard deviation {by}", "s 为随机数，标准差 {by}";
    S_DENSE_LARGE: "A random s needs H·L² numbers, more than {most} here, so s is off. Choose a shorter text.", "随机 s 需要 H·L² 个数，此处超过 {most}，因此 s 未启用。请选择更短的文本。";
    READING: "How the formula is read", "公式的读法";
    READ_SOFTMAX: "softmax(r)", "softmax(r)";
    READ_BIAS: "softmax(r + s)", "softmax(r + s)";
    READ_PRODUCT: "r · softmax(s)", "r · softmax(s)";
    READ_SOFTMAX_HINT: "as the listing computes it; s takes no part", "按源代码实际计算；s 不参与";
    READ_BIAS_HINT: "s re-weights inside the softmax", "s 在 softmax 内重新加权";
    READ_PRODUCT_HINT: "the formula taken literally; weights may be negative", "按字面理解公式；权重可为负";
    S_CURVE: "Auxiliary bias s", "辅助偏置 s";
    S_CURVE_OFF: "{reading}: s takes no part", "{reading}：s 不参与";
    S_CURVE_ZERO: "0: s is off; the dashed line is its shape", "0：s 未启用；虚线为其形状";
    S_CURVE_RANGE: "s from {lo} to {hi} over the offsets", "s 随偏移从 {lo} 到 {hi}";
    S_CURVE_ALT: "s as a curve over the offset j − i, from {lo} to {hi}", "s 随偏移 j − i 变化的曲线，从 {lo} 到 {hi}";
    S_SHAPE: "Shape of s", "s 的形状";
    OFFSET_AXIS: "offset j − i", "偏移 j − i";
    SLOPE: "Slope", "斜率";
    DECAY: "Decay with distance", "随距离衰减";
    WAVE: "Wave height", "波幅";
    PERIOD: "Wave period", "周期";
    BUMP: "Bump height", "凸起高度";
    AT: "Bump at offset", "凸起位置";
    WIDTH: "Bump width", "凸起宽度";
    TOKENS_UNIT: "tokens", "词元";
    P_K: "Position bias of keys P_K", "键的位置偏置 P_K";
    P_V: "Position bias of values P_V", "值的位置偏置 P_V";
    BIAS_OFF: "0: no bias", "0：无偏置";
    P_K_SHARED: "shared: the same for every key, so softmax weights do not move", "共享：对每个键都相同，softmax 权重不变";
    P_K_SHARED_ACTS: "shared, but r itself is the weight here: it acts", "共享，但此处 r 本身就是权重：有作用";
    P_K_EACH: "one per position: q·P_K joins the score", "逐位置：q·P_K 加入分数";
    P_V_SHARED: "shared: adds P_V to every output, the map stays", "共享：给每个输出加上 P_V，图不变";
    P_V_EACH: "one per position: changes outputs, the map stays", "逐位置：改变输出，图不变";
    BIAS_SHAPE: "Shape", "形状";
    SHAPE_NORMAL: "normal random", "正态随机";
    SHAPE_XAVIER: "Xavier, gain 0.02", "Xavier，增益 0.02";
    SHAPE_SINUSOIDAL: "sinusoidal", "正弦";
    SHAPE_ONE_HOT: "one dimension", "单一维度";
    BIAS_SEED: "Seed", "种子";
    BIAS_DIM: "Dimension", "维度";
    SHARED: "shared by all positions", "所有位置共享";
    PER_POSITION: "one per position", "每个位置各一";
    SHARING: "Sharing", "共享方式";
    OUT_RANK: "Output rank r", "输出秩 r";
    OUT_RANK_FULL: "full rank: W_O as it is", "满秩：W_O 原样";
    OUT_RANK_KEPT: "{energy} of W_O's energy · {params} instead of {full} parameters", "保留 W_O 能量的 {energy} · 参数 {params}，原为 {full}";
    OUT_RANK_PARAMS: "{params} instead of {full} parameters", "参数 {params}，原为 {full}";
    SCORE_RANK: "Score rank ρ", "分数秩 ρ";
    SCORE_RANK_FULL: "full score: L²·d_h", "完整分数：L²·d_h";
    SCORE_RANK_COST: "L²·ρ: {share} of the score's cost", "L²·ρ：分数计算量的 {share}";
    SEGMENT: "Segment size B", "分段大小 B";
    SEGMENT_ONE: "one segment: normalised over the whole row", "一段：整行统一归一化";
    SEGMENT_MANY: "{n} segments, each normalised on its own", "分为 {n} 段，各自归一化";
    SCALE: "Scale of the score", "分数的缩放";
    SCALE_HEAD: "1/√d_h (usual)", "1/√d_h（通常）";
    SCALE_MODEL: "1/√d (partial-attention listing)", "1/√d（局部注意力源代码）";
    SCALE_FREE: "free value", "自定义";
    SCALE_VALUE: "Scale value", "缩放值";
    MORE_RANKS: "Score rank, segments, scale", "分数秩、分段、缩放";
    MORE_SCALE: "Scale, projections", "缩放、投影";
    RESTORE: "Double-click or Backspace restores {value}", "双击或按退格键恢复为 {value}";
    EXACT: "{label}, exact value", "{label}，精确值";
    CODE: "The same mask in code", "同一掩码的代码";
    CODE_HINT: "What other libraries call for this mask; i is the query, j the key.", "其他库中得到此掩码的调用；i 为查询，j 为键。";
    COPY: "Copy", "复制";
    COPY_CALL: "Copy the {name} call", "复制 {name} 调用";
    MASK_NOTE: "A masked key gets weight 0 exactly. A row that sees no key is empty: all zeros, unless the switch above gives it the mean.", "被掩码的键权重恰为 0。看不到任何键的行是空行：全为零，除非用上面的开关取平均。";
}

/// Name and one line about a mechanism.
pub const fn mechanism(of: Mechanism) -> (Text, Text) {
    match of {
        Mechanism::Full => (FULL, FULL_HINT),
        Mechanism::Window => (WINDOW, WINDOW_HINT),
        Mechanism::Cjar => (CJAR, CJAR_HINT),
    }
}

/// Name of a window convention and who uses it (SPEC 2).
pub const fn convention(of: Convention) -> (Text, Text) {
    match of {
        Convention::Distance => (DISTANCE, DISTANCE_WHO),
        Convention::CausalDistance => (CAUSAL_DISTANCE, CAUSAL_DISTANCE_WHO),
        Convention::CausalCount => (CAUSAL_COUNT, CAUSAL_COUNT_WHO),
        Convention::Longformer => (LONGFORMER, LONGFORMER_WHO),
        Convention::Explicit => (EXPLICIT, EXPLICIT_WHO),
    }
}

/// Formula of a reading and one line about it (SPEC 3).
pub const fn reading(of: Reading) -> (Text, Text) {
    match of {
        Reading::Softmax => (READ_SOFTMAX, READ_SOFTMAX_HINT),
        Reading::Bias => (READ_BIAS, READ_BIAS_HINT),
        Reading::Product => (READ_PRODUCT, READ_PRODUCT_HINT),
    }
}

/// Name of a bias shape.
pub const fn bias_shape(of: BiasShape) -> Text {
    match of {
        BiasShape::Normal => SHAPE_NORMAL,
        BiasShape::Xavier => SHAPE_XAVIER,
        BiasShape::Sinusoidal => SHAPE_SINUSOIDAL,
        BiasShape::OneHot => SHAPE_ONE_HOT,
    }
}
