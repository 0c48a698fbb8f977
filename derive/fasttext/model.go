package fasttext

import (
	"slices"
	"strings"
)

// The numbers at the start of a file.
const (
	magic      = 793712314
	versionMax = 12
	// version11 had no character n-grams in supervised models, whatever its arguments say.
	version11 = 11
)

// Bounds of arguments. fastText's defaults are below 10; larger ones cost time for each word of a text.
const (
	gramLengthMax = 64
	wordGramsMax  = 16
)

// supervised is the number of models that predict labels.
const supervised = 3

// arguments are those of the training that a prediction depends on.
type arguments struct {
	width     int32 // numbers of a row
	wordGrams int32 // words of a word n-gram, at most; 1: none
	loss      int32
	model     int32
	buckets   int32 // rows of n-grams before pruning
	least     int32 // characters of an n-gram
	most      int32 // 0: none
}

// Model predicts labels. It is not changed after Open.
type Model struct {
	arguments

	dictionary dictionary
	kept       keptRows
	input      matrix
	output     matrix
	loss       loss
	labels     []string
	endOfLine  int32 // number of the word, or -1
}

// Open reads the bytes of a file, and keeps them.
func Open(file []byte) (*Model, error) {
	in := &input{rest: file}
	m := &Model{}
	in.arguments(&m.arguments)
	if in.err != nil {
		return nil, in.err
	}
	pairs := in.dictionary(&m.dictionary)
	in.keptRows(&m.kept, pairs)
	isQuantised := in.byte() != 0
	m.input = in.matrix(isQuantised, m.width)
	isOutputQuantised := in.byte() != 0
	m.output = in.matrix(isQuantised && isOutputQuantised, m.width)
	if in.err != nil {
		return nil, in.err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	var err error
	if m.loss, err = newLoss(m.arguments.loss, m.output, m.dictionary.counts); err != nil {
		return nil, err
	}
	for _, e := range m.dictionary.entries[m.dictionary.words:] {
		m.labels = append(m.labels, strings.TrimPrefix(string(e.text), labelPrefix))
	}
	m.endOfLine = m.dictionary.find([]byte(endOfLine), hashOf([]byte(endOfLine)))
	return m, nil
}

// matrix returns a matrix, or nil with an error.
func (in *input) matrix(isQuantised bool, width int32) matrix {
	if in.err != nil {
		return nil
	}
	if isQuantised {
		return in.quantised(width)
	}
	return in.dense(width)
}

func (in *input) arguments(a *arguments) {
	if found := in.int32(); found != magic {
		in.err = faultf("it begins with other bytes")
		return
	}
	version := in.int32()
	a.width = in.int32()
	for range 4 { // of the training: window, epochs, least count, negative samples
		in.int32()
	}
	a.wordGrams, a.loss, a.model, a.buckets = in.int32(), in.int32(), in.int32(), in.int32()
	a.least, a.most = in.int32(), in.int32()
	in.int32() // of the training: rate of updates
	in.int64() // of the training: sampling
	if version == version11 {
		a.most = 0
	}
	switch {
	case in.err != nil:
	case version > versionMax || version < version11:
		in.err = faultf("version %d, and only 11 and 12 are known", version)
	case a.model != supervised:
		in.err = faultf("a model of word vectors, which has no labels")
	case a.width < 1 || a.buckets < 0:
		in.err = faultf("rows of %d numbers, %d buckets", a.width, a.buckets)
	case a.wordGrams > wordGramsMax || a.most > gramLengthMax:
		in.err = faultf("n-grams of %d words and of %d characters", a.wordGrams, a.most)
	}
}

// check compares the parts of a model.
func (m *Model) check() error {
	rows, words := m.input.rows(), int64(m.dictionary.words)
	most := words + int64(m.buckets)
	if m.kept.isPruned {
		most = words
		if len(m.kept.rows) > 0 {
			most += int64(slices.Max(m.kept.rows)) + 1
		}
	}
	if m.buckets == 0 && (m.most > 0 || m.wordGrams > 1) {
		return faultf("n-grams without buckets")
	}
	if rows < most || rows >= 1<<31 {
		return faultf("%d rows for words and n-grams, want %d", rows, most)
	}
	if m.output.rows() != int64(m.dictionary.labels) {
		return faultf("%d rows for %d labels", m.output.rows(), m.dictionary.labels)
	}
	return nil
}

// Labels returns the labels, without the prefix that they have in the file. The caller must not change them.
func (m *Model) Labels() []string { return m.labels }
