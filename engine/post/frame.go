package post

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// A message of gRPC is one frame: its kind in one octet, then fields. Numbers are uvarints, texts have their length before them. The form
// of hello and welcome is the same in all versions of the protocol, and what follows their fields is for later ones: it is passed over. All
// other frames are of the version that was agreed upon, and have nothing behind their fields.
//
//	hello     H  magic  versions from to  crawl  who speaks  to whom
//	welcome   W  magic  versions from to  version that is spoken  window  longest batch
//	letter    L  number  form  length of the batch  the batch
//	results   R  how many  (number  kind  wait in ms  text)...
//	beat      B
//	question  Q  version  kind  crawl  who speaks  to whom  form  length  the question
//	answer    A  kind of result  wait in ms  text  form  length  the answer
const (
	kindHello    = 'H'
	kindWelcome  = 'W'
	kindLetter   = 'L'
	kindResults  = 'R'
	kindBeat     = 'B'
	kindQuestion = 'Q'
	kindAnswer   = 'A'

	magic = "ORBW"
)

// Forms of what a frame carries.
const (
	formPlain = 0
	formZstd  = 1
)

// Kinds of results.
const (
	resultKept    = 0
	resultQuota   = 1
	resultRefused = 2
	resultFailed  = 3
)

// Bounds of what is read, whatever the options are.
const (
	nameMax    = 64 // of agents and crawls, in bytes
	windowMax  = 64
	batchLimit = 64 << 20 // of a batch, in bytes
	headMax    = 512      // of everything in a frame before what it carries, in bytes
)

// errMalformed is wrapped by every fault of a frame.
var errMalformed = errors.New("malformed frame")

// versions are the versions of the protocol that an agent speaks, from and to included.
type versions struct{ from, to byte }

// common is the highest that both speak.
func (v versions) common(w versions) (byte, error) {
	version := min(v.to, w.to)
	if version < max(v.from, w.from) {
		return 0, fmt.Errorf("%w: this agent speaks %v of the protocol, the other %v: run builds that are nearer to each other", ErrVersion, v, w)
	}
	return version, nil
}

// String says it to an operator.
func (v versions) String() string {
	if v.from == v.to {
		return fmt.Sprintf("version %d", v.from)
	}
	return fmt.Sprintf("versions %d to %d", v.from, v.to)
}

type hello struct {
	Versions        versions
	Crawl, From, To string
}

type welcome struct {
	Versions versions
	Version  byte
	Window   int
	BatchMax int
}

// load is what a frame carries: a batch, a question or an answer.
type load struct {
	Form byte
	Size int    // when it is unpacked
	Body []byte // a part of the frame
}

type letter struct {
	Number uint64
	load
}

type result struct {
	Number uint64
	Kind   byte
	Wait   time.Duration
	Text   string
}

type question struct {
	Version         byte
	Kind            byte
	Crawl, From, To string
	load
}

// answer carries nothing unless its result is resultKept.
type answer struct {
	result // without a number
	load
}

func (h *hello) append(b []byte) []byte {
	b = append(append(b, kindHello), magic...)
	b = append(b, h.Versions.from, h.Versions.to)
	return appendText(appendText(appendText(b, h.Crawl), h.From), h.To)
}

func (w *welcome) append(b []byte) []byte {
	b = append(append(b, kindWelcome), magic...)
	b = append(b, w.Versions.from, w.Versions.to, w.Version)
	b = binary.AppendUvarint(b, uint64(w.Window))
	return binary.AppendUvarint(b, uint64(w.BatchMax))
}

// append writes what comes before the body.
func (l *load) append(b []byte) []byte {
	return binary.AppendUvarint(append(b, l.Form), uint64(l.Size))
}

func (l *letter) append(b []byte) []byte {
	return l.load.append(binary.AppendUvarint(append(b, kindLetter), l.Number))
}

func (q *question) append(b []byte) []byte {
	b = append(b, kindQuestion, q.Version, q.Kind)
	return q.load.append(appendText(appendText(appendText(b, q.Crawl), q.From), q.To))
}

func (a *answer) append(b []byte) []byte {
	return a.load.append(a.result.append(append(b, kindAnswer)))
}

// append writes a result without its number.
func (r *result) append(b []byte) []byte {
	b = append(b, r.Kind)
	return appendText(binary.AppendUvarint(b, uint64(r.Wait/time.Millisecond)), r.Text)
}

func appendResults(b []byte, all []result) []byte {
	b = binary.AppendUvarint(append(b, kindResults), uint64(len(all)))
	for _, r := range all {
		b = r.append(binary.AppendUvarint(b, r.Number))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// fields reads a frame from its front. The first fault stays; after it everything read is empty.
type fields struct {
	rest []byte
	err  error
}

// kindOf is the kind of a frame, 0 for an empty one.
func kindOf(frame []byte) byte {
	if len(frame) == 0 {
		return 0
	}
	return frame[0]
}

// open begins to read a frame that ought to be of this kind.
func open(frame []byte, kind byte) *fields {
	f := &fields{rest: frame}
	if got := f.octet("kind"); f.err == nil && got != kind {
		f.fault("is of kind %q, want %q", got, kind)
	}
	return f
}

func (f *fields) fault(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: "+format, append([]any{errMalformed}, args...)...)
	}
	f.rest = nil
}

func (f *fields) octet(what string) byte {
	if len(f.rest) == 0 {
		f.fault("ends before its %s", what)
		return 0
	}
	b := f.rest[0]
	f.rest = f.rest[1:]
	return b
}

// number reads one from 0 to most, in its shortest form.
func (f *fields) number(what string, most uint64) uint64 {
	n, size := binary.Uvarint(f.rest)
	switch {
	case size <= 0:
		f.fault("has no %s", what)
		return 0
	case n > most:
		f.fault("has a %s of %d, want at most %d", what, n, most)
		return 0
	case size > 1 && f.rest[size-1] == 0:
		f.fault("has a %s that is longer than it need be", what)
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

func (f *fields) text(what string, most int) string {
	n := f.number("length of "+what, uint64(most))
	if n > uint64(len(f.rest)) {
		f.fault("ends within its %s", what)
		return ""
	}
	s := string(f.rest[:n])
	f.rest = f.rest[n:]
	return s
}

func (f *fields) magic() {
	if len(f.rest) < len(magic) || string(f.rest[:len(magic)]) != magic {
		f.fault("does not begin as ours do")
		return
	}
	f.rest = f.rest[len(magic):]
}

func (f *fields) versions() versions {
	v := versions{f.octet("lowest version"), f.octet("highest version")}
	if f.err == nil && (v.from == 0 || v.from > v.to) {
		f.fault("names versions %d to %d", v.from, v.to)
	}
	return v
}

// load takes all that is left.
func (f *fields) load(most int) (l load) {
	l.Form = f.octet("form")
	l.Size = int(f.number("length", uint64(most)))
	l.Body, f.rest = f.rest, nil
	switch {
	case f.err != nil:
		return load{}
	case l.Form > formZstd:
		f.fault("has a form of %d, want at most %d", l.Form, formZstd)
	case l.Form == formPlain && len(l.Body) != l.Size:
		f.fault("carries %d bytes and says %d", len(l.Body), l.Size)
	case l.Form == formZstd && len(l.Body) >= l.Size:
		f.fault("is packed to no less than it is")
	}
	return l
}

func (f *fields) result() (r result) {
	r.Kind = f.octet("kind of result")
	r.Wait = time.Duration(f.number("wait", uint64(waitMax/time.Millisecond))) * time.Millisecond
	r.Text = f.text("text", textMax)
	if r.Kind > resultFailed {
		f.fault("has a result of kind %d", r.Kind)
	}
	return r
}

func (f *fields) end() error {
	if len(f.rest) > 0 {
		f.fault("has %d bytes behind its end", len(f.rest))
	}
	return f.err
}

func parseHello(frame []byte) (h hello, err error) {
	f := open(frame, kindHello)
	f.magic()
	h.Versions = f.versions()
	h.Crawl, h.From, h.To = f.text("crawl", nameMax), f.text("sender", nameMax), f.text("receiver", nameMax)
	return h, f.err
}

func parseWelcome(frame []byte) (w welcome, err error) {
	f := open(frame, kindWelcome)
	f.magic()
	w.Versions, w.Version = f.versions(), f.octet("version")
	w.Window, w.BatchMax = int(f.number("window", windowMax)), int(f.number("longest batch", batchLimit))
	if f.err == nil && (w.Window == 0 || w.BatchMax == 0) {
		f.fault("leaves room for nothing")
	}
	return w, f.err
}

// parseLetter borrows the frame for the body. Batches have at most so many bytes.
func parseLetter(frame []byte, most int) (l letter, err error) {
	f := open(frame, kindLetter)
	l.Number = f.number("number", math.MaxUint64)
	l.load = f.load(most)
	return l, f.end()
}

func parseResults(frame []byte) (all []result, err error) {
	f := open(frame, kindResults)
	for range f.number("count", windowMax) {
		number := f.number("number", math.MaxUint64)
		r := f.result()
		r.Number = number
		if f.err != nil {
			return nil, f.err
		}
		all = append(all, r)
	}
	return all, f.end()
}

func parseBeat(frame []byte) error { return open(frame, kindBeat).end() }

// parseQuestion borrows the frame for the body.
func parseQuestion(frame []byte, most int) (q question, err error) {
	f := open(frame, kindQuestion)
	q.Version, q.Kind = f.octet("version"), f.octet("kind of question")
	q.Crawl, q.From, q.To = f.text("crawl", nameMax), f.text("sender", nameMax), f.text("receiver", nameMax)
	q.load = f.load(most)
	return q, f.end()
}

// parseAnswer borrows the frame for the body.
func parseAnswer(frame []byte, most int) (a answer, err error) {
	f := open(frame, kindAnswer)
	a.result = f.result()
	a.load = f.load(most)
	return a, f.end()
}
