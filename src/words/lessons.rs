//! Words of the starter scenes: a title, two sentences, a move to try.

use super::{Text, texts};
use crate::scene::LessonId;

texts! {
    FULL_TITLE: "What full attention shows", "全注意力显示了什么";
    FULL_TEXT: "Every token may look at every token, and each row shares out one unit of weight. This head has learnt a habit: most rows look one word to the right.", "每个词元都可以看向所有词元，每一行把总量为 1 的权重分配出去。这个头学会了一种习惯：多数行都看向右边的下一个词。";
    FULL_MOVE: "See what “it” looks at, two layers up", "到第 3 层看看 “it” 在看谁";
    WINDOW_TITLE: "What a window cuts off", "滑动窗口截掉了什么";
    WINDOW_TEXT: "Without a window “it” looks at “river” and “bridge”, the words it could stand for. With w = 2 both are out of sight: the hatched cells are gone, and their weight goes to whatever is near.", "没有窗口时，“it” 看向它可能指代的 “river” 和 “bridge”。w = 2 时两者都看不到了：斜线格被去掉，权重只能落到近处的词上。";
    WINDOW_MOVE: "Widen it until “it” sees “bridge” again: w = 9", "放宽到 “it” 重新看到 “bridge”：w = 9";
    SINK_TITLE: "What a sink gives back", "汇聚词元归还了什么";
    SINK_TEXT: "Many heads rest on [CLS] when they have nothing to say, and a window takes that resting place away. Keeping just the first key visible gives it back for one extra column.", "许多头在无话可说时会停在 [CLS] 上，而窗口夺走了这个停靠点。只要让第一个键始终可见，多一列就能把它还回来。";
    SINK_MOVE: "Keep the first key", "保留第一个键";
    BIAS_TITLE: "A bias that changes nothing", "什么也不改变的位置偏置";
    BIAS_TEXT: "A key bias P_K that is the same for every position adds the same number to the whole row, and softmax does not notice. Give every position its own and the map moves.", "若键的位置偏置 P_K 对所有位置都相同，就只是给整行加上同一个数，softmax 毫无察觉。让每个位置各有一个，图就会变化。";
    BIAS_MOVE: "Give every position its own", "让每个位置各有一个";
    SIGNED_TITLE: "The formula taken literally", "按字面理解公式";
    SIGNED_TEXT: "Read as written, the weight is the raw score times a softmax of s: it can be negative, and a row need not sum to one. Colours are pinned at zero so that the sign can be seen.", "若按字面理解，权重等于原始分数乘以 s 的 softmax：它可以为负，行和也不必为 1。颜色以零为中心，符号一目了然。";
    SIGNED_MOVE: "Put the same s inside the softmax", "把同一个 s 放进 softmax 里";
    RANK_TITLE: "What W_O can spare", "W_O 能省下多少";
    RANK_TEXT: "The output projection can be cut to rank r by dropping its smallest singular values. The layer output beside it shows what that costs; the map does not change at all.", "舍去最小的奇异值，可以把输出投影截断到秩 r。旁边的层输出显示了代价；注意力图完全不变。";
    RANK_MOVE: "Cut down to r = 64", "截断到 r = 64";
    PARTIAL_TITLE: "Partial attention: listing and text", "部分注意力：源代码与原文";
    CJAR_TITLE: "CJAR: listing and text", "CJAR：源代码与原文";
    LISTING_TEXT: "In the points below the source's own code and its text part. The map is drawn as the switches stand: move one and watch it.", "在下列各处，来源的代码与其原文说法不同。图按各开关的位置绘制：切换一处，看图如何变化。";
    AGAIN: "Again from the start", "从头再来";
    TRY: "Try:", "试一试：";
    CLOSE: "Close the scene's text", "关闭场景说明";
}

/// Title, two sentences, and the label of the suggested move; a listing has points instead.
pub const fn lesson(id: LessonId) -> (Text, Text, Option<Text>) {
    match id {
        LessonId::Full => (FULL_TITLE, FULL_TEXT, Some(FULL_MOVE)),
        LessonId::Window => (WINDOW_TITLE, WINDOW_TEXT, Some(WINDOW_MOVE)),
        LessonId::Sink => (SINK_TITLE, SINK_TEXT, Some(SINK_MOVE)),
        LessonId::Bias => (BIAS_TITLE, BIAS_TEXT, Some(BIAS_MOVE)),
        LessonId::Signed => (SIGNED_TITLE, SIGNED_TEXT, Some(SIGNED_MOVE)),
        LessonId::Rank => (RANK_TITLE, RANK_TEXT, Some(RANK_MOVE)),
        LessonId::Partial => (PARTIAL_TITLE, LISTING_TEXT, None),
        LessonId::Cjar => (CJAR_TITLE, LISTING_TEXT, None),
    }
}
