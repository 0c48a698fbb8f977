package fasttext

import "math"

// Loss functions.
const (
	lossHierarchical = 1
	lossNegative     = 2
	lossSoftmax      = 3
	lossOneVersusAll = 4
)

// floor is what fastText adds to a probability before it takes the logarithm. Its scores contain it.
const floor = 1e-5

// loss computes the scores of labels.
type loss interface {
	// best adds the labels with the best scores for a hidden vector. They are logarithms of probabilities.
	best(hidden []float32, found *ranking)
}

func newLoss(kind int32, output matrix, counts []int64) (loss, error) {
	switch kind {
	case lossHierarchical:
		return newTree(output, counts)
	case lossSoftmax:
		return softmax{output}, nil
	case lossNegative, lossOneVersusAll:
		return independent{output}, nil
	}
	return nil, faultf("loss function %d", kind)
}

// softmax: the probabilities of all labels add up to 1.
type softmax struct{ output matrix }

func (l softmax) best(hidden []float32, found *ranking) {
	scores := found.memory(int(l.output.rows()))
	top := float32(math.Inf(-1))
	for i := range scores {
		scores[i] = l.output.dot(hidden, int32(i))
		top = max(top, scores[i])
	}
	sum := 0.0
	for i, score := range scores {
		e := math.Exp(float64(score - top))
		scores[i] = float32(e)
		sum += e
	}
	for i, score := range scores {
		found.add(int32(i), math.Log(float64(score)/sum+floor))
	}
}

// independent: each label has its own probability.
type independent struct{ output matrix }

func (l independent) best(hidden []float32, found *ranking) {
	for i := range int32(l.output.rows()) {
		found.add(i, math.Log(tabledSigmoid(l.output.dot(hidden, i))+floor))
	}
}

// tabledSigmoid is the sigmoid of fastText's table, which has 512 steps from -8 to 8.
func tabledSigmoid(x float32) float64 {
	const (
		most  = 8
		steps = 32 // in 1
	)
	switch {
	case x < -most:
		return 0
	case x > most:
		return 1
	}
	return sigmoid(math.Floor(float64(x+most)*steps)/steps - most)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// tree is the Huffman tree of the labels by their counts. Its leaves have the numbers of labels, and each inner node a
// row of the output matrix.
type tree struct {
	output        matrix
	leaves        int32
	lefts, rights []int32 // children of each inner node
}

// countsMax bounds the sum of the counts. fastText takes it for more than any count.
const countsMax = 1e15

func newTree(output matrix, counts []int64) (*tree, error) {
	t := &tree{output: output, leaves: int32(len(counts))}
	for i, count := range counts {
		if count < 0 || count > countsMax/int64(len(counts)) {
			return nil, faultf("label %d was counted %d times", i, count)
		}
	}
	sums := make([]int64, 0, len(counts)) // of inner nodes, which become ever larger
	leaf, inner := len(counts)-1, 0
	next := func() (node int32, count int64) {
		if leaf >= 0 && (inner >= len(sums) || counts[leaf] < sums[inner]) {
			leaf--
			return int32(leaf + 1), counts[leaf+1]
		}
		inner++
		return t.leaves + int32(inner-1), sums[inner-1]
	}
	for range len(counts) - 1 {
		left, a := next()
		right, b := next()
		t.lefts, t.rights = append(t.lefts, left), append(t.rights, right)
		sums = append(sums, a+b)
	}
	return t, nil
}

func (t *tree) best(hidden []float32, found *ranking) {
	root := t.leaves + int32(len(t.lefts)) - 1
	found.open = append(found.open[:0], scored{root, 0})
	for len(found.open) > 0 {
		top := found.open[len(found.open)-1]
		found.open = found.open[:len(found.open)-1]
		if !found.isGood(top.score) {
			continue
		}
		if top.number < t.leaves {
			found.add(top.number, top.score)
			continue
		}
		row := top.number - t.leaves
		p := sigmoid(float64(t.output.dot(hidden, row)))
		left := scored{t.lefts[row], top.score + math.Log(1-p+floor)}
		right := scored{t.rights[row], top.score + math.Log(p+floor)}
		if left.score < right.score {
			left, right = right, left
		}
		found.open = append(found.open, right, left) // the better one is next, so that most others are passed over
	}
}

// scored is a label, or a node of a tree.
type scored struct {
	number int32
	score  float64
}

// ranking keeps the labels with the best scores, best first.
type ranking struct {
	kept []scored // never more than its capacity

	open   []scored  // of a tree
	scores []float32 // of a softmax
}

func (r *ranking) memory(n int) []float32 {
	if cap(r.scores) < n {
		r.scores = make([]float32, n)
	}
	return r.scores[:n]
}

// reset forgets the labels. The next most ones are kept.
func (r *ranking) reset(most int) {
	if cap(r.kept) != most {
		r.kept = make([]scored, 0, most)
	}
	r.kept = r.kept[:0]
}

// isGood reports whether a score is among the best. NaN never is. Of equal scores the later one counts, as in fastText.
func (r *ranking) isGood(score float64) bool {
	if len(r.kept) < cap(r.kept) {
		return !math.IsNaN(score)
	}
	return len(r.kept) > 0 && score >= r.kept[len(r.kept)-1].score
}

func (r *ranking) add(number int32, score float64) {
	if !r.isGood(score) {
		return
	}
	if len(r.kept) < cap(r.kept) {
		r.kept = r.kept[:len(r.kept)+1]
	}
	at := len(r.kept) - 1
	for at > 0 && r.kept[at-1].score < score {
		r.kept[at] = r.kept[at-1]
		at--
	}
	r.kept[at] = scored{number, score}
}
