package fasttext

import "math"

// Predictor predicts the labels of texts. It belongs to one goroutine.
type Predictor struct {
	model    *Model
	hidden   []float32
	features int
	hashes   []uint32 // of the words of the text, for n-grams of words
	recent   recentWords
	ranking  ranking
	found    []Prediction
	bracket  []byte // memory for a word with its brackets
}

// Prediction is a label, by its number in Model.Labels, with its score: the probability, as fastText computes it, at
// most 1.
type Prediction struct {
	Label int
	Score float64
}

// NewPredictor returns a Predictor with memory of its own.
func (m *Model) NewPredictor() *Predictor {
	return &Predictor{model: m, hidden: make([]float32, m.width), recent: newRecentWords(int(m.width))}
}

// Predict returns the most probable labels of a text, at most so many, best first. Line ends are spaces: the text is
// one line for fastText. There are none if nothing in the text has a row in the model. The result is valid until the
// next call.
func (p *Predictor) Predict(text []byte, most int) []Prediction {
	p.found = p.found[:0]
	p.sum(text)
	if p.features == 0 || most < 1 {
		return p.found
	}
	for i := range p.hidden {
		p.hidden[i] *= 1 / float32(p.features)
	}
	p.ranking.reset(min(most, len(p.model.labels)))
	p.model.loss.best(p.hidden, &p.ranking)
	for _, r := range p.ranking.kept {
		p.found = append(p.found, Prediction{int(r.number), min(math.Exp(r.score), 1)})
	}
	return p.found
}

// isSeparator reports whether a byte stands between words.
func isSeparator(c byte) bool { return c == ' ' || c-'\t' <= '\r'-'\t' || c == 0 }

// sum adds up the rows of all words of a text, and of the end of the line.
func (p *Predictor) sum(text []byte) {
	clear(p.hidden)
	p.features = 0
	p.hashes = p.hashes[:0]
	for i := 0; i < len(text); i++ {
		from := i
		hash := uint32(fnv32)
		for ; i < len(text) && !isSeparator(text[i]); i++ {
			hash = hashByte(hash, text[i])
		}
		if from == i {
			continue
		}
		word := text[from:i]
		if string(word) == endOfLine {
			break // as in fastText
		}
		p.addWord(word, hash)
	}
	p.addEnd()
	if p.model.wordGrams > 1 {
		p.addWordGrams()
	}
}

// addWord adds the rows of a word and of its n-grams.
func (p *Predictor) addWord(word []byte, hash uint32) {
	sum, features := p.recent.find(word, hash)
	if features >= 0 {
		p.features += features
		for i := range p.hidden {
			p.hidden[i] += sum[i]
		}
		if p.model.wordGrams > 1 {
			p.hashes = append(p.hashes, hash)
		}
		return
	}
	d := &p.model.dictionary
	number := d.find(word, hash)
	if d.isLabel(word, number) {
		return
	}
	features = 0
	clear(sum)
	if number >= 0 {
		p.model.input.addRow(sum, number)
		features++
	}
	if p.model.most > 0 {
		features += p.addGrams(sum, word)
	}
	p.recent.keep(word, hash, features)
	p.features += features
	for i := range p.hidden {
		p.hidden[i] += sum[i]
	}
	if p.model.wordGrams > 1 {
		p.hashes = append(p.hashes, hash)
	}
}

// addEnd adds the word that ends a line. It has no n-grams of characters.
func (p *Predictor) addEnd() {
	if n := p.model.endOfLine; n >= p.model.dictionary.words {
		return // a label
	} else if n >= 0 {
		p.model.input.addRow(p.hidden, n)
		p.features++
	}
	p.hashes = append(p.hashes, hashOf([]byte(endOfLine)))
}

// addGrams adds the rows of the n-grams of a word to sum, and returns how many there are. A word is in brackets: "<a>".
// An n-gram is counted in characters; a bracket alone is none.
func (p *Predictor) addGrams(sum []float32, word []byte) (features int) {
	m := p.model
	p.bracket = append(append(append(p.bracket[:0], '<'), word...), '>')
	text := p.bracket
	for from := range text {
		if isContinuation(text[from]) {
			continue
		}
		hash := uint32(fnv32)
		at := from
		for n := int32(1); at < len(text) && n <= m.most; n++ {
			hash = hashByte(hash, text[at])
			at++
			for at < len(text) && isContinuation(text[at]) {
				hash = hashByte(hash, text[at])
				at++
			}
			if n < m.least || n == 1 && (from == 0 || at == len(text)) {
				continue
			}
			if row, ok := m.kept.row(int32(hash % uint32(m.buckets))); ok {
				m.input.addRow(sum, m.dictionary.words+row)
				features++
			}
		}
	}
	return features
}

// isContinuation reports whether a byte belongs to the character of the byte before it, in UTF-8.
func isContinuation(c byte) bool { return c&0xC0 == 0x80 }

// addWordGrams adds the rows of n-grams of words. Their hash is made of the hashes of the words, as signed numbers.
func (p *Predictor) addWordGrams() {
	const factor = 116049371
	m := p.model
	for i, first := range p.hashes {
		hash := uint64(int64(int32(first)))
		for _, next := range p.hashes[i+1 : min(i+int(m.wordGrams), len(p.hashes))] {
			hash = hash*factor + uint64(int64(int32(next)))
			if row, ok := m.kept.row(int32(hash % uint64(m.buckets))); ok {
				m.input.addRow(p.hidden, m.dictionary.words+row)
				p.features++
			}
		}
	}
}

// recentWords keeps the sums of the rows of words. A text repeats most of its words, and so do the texts of a site.
type recentWords struct {
	width int
	keys  []wordKey
	sums  []float32
	other []float32 // the sum of a word that is not kept
}

// wordKey is a word of at most 23 bytes.
type wordKey struct {
	text     [23]byte
	length   uint8
	features int32 // rows in the sum
}

// recentBytes is the memory of recentWords.
const recentBytes = 1 << 20

func newRecentWords(width int) recentWords {
	n := 1
	for 2*n*(4*width+28) <= recentBytes {
		n *= 2
	}
	return recentWords{width, make([]wordKey, n), make([]float32, n*width), make([]float32, width)}
}

// place returns the place of a word, and the memory of its sum.
func (r *recentWords) place(hash uint32) (key *wordKey, sum []float32) {
	at := int(uint64(hash)*scatter>>32) & (len(r.keys) - 1)
	return &r.keys[at], r.sums[at*r.width : (at+1)*r.width]
}

// find returns the sum of a word and the number of its rows. If that is -1, the caller computes the sum: the memory is
// that of another word, and keep says that it holds this one.
func (r *recentWords) find(word []byte, hash uint32) (sum []float32, features int) {
	key, sum := r.place(hash)
	switch {
	case len(word) > len(key.text):
		return r.other, -1
	case string(key.text[:key.length]) == string(word):
		return sum, int(key.features)
	}
	key.length = 0
	return sum, -1
}

// keep says that the memory of find has the sum of this word.
func (r *recentWords) keep(word []byte, hash uint32, features int) {
	if key, _ := r.place(hash); len(word) <= len(key.text) {
		key.length = uint8(copy(key.text[:], word))
		key.features = int32(features)
	}
}
