package pdflinks

import "bytes"

// key is a key of a dictionary, as far as it matters here.
type key uint8

const (
	noKey key = iota
	otherKey
	keyBase
	keyDecodeParms
	keyEncrypt
	keyF
	keyFilter
	keyFirst
	keyID
	keyLength
	keyN
	keyPredictor
	keyS
	keyType
	keyUF
	keyURI
)

// keyOf returns the key of a name.
func keyOf(name []byte) key {
	switch string(name) {
	case "Base":
		return keyBase
	case "DecodeParms":
		return keyDecodeParms
	case "Encrypt":
		return keyEncrypt
	case "F":
		return keyF
	case "Filter":
		return keyFilter
	case "First":
		return keyFirst
	case "ID":
		return keyID
	case "Length":
		return keyLength
	case "N":
		return keyN
	case "Predictor":
		return keyPredictor
	case "S":
		return keyS
	case "Type":
		return keyType
	case "UF":
		return keyUF
	case "URI":
		return keyURI
	}
	return otherKey
}

// nameMax is longer than each name that matters with all its characters escaped.
const nameMax = 64

// action is the type of an action: the value of /S.
type action uint8

const (
	noAction action = iota
	otherAction
	actionURI
	actionFile // GoToR or Launch: it opens another file
)

// filter is how the bytes of a stream are encoded.
type filter uint8

const (
	noFilter filter = iota
	flateFilter
	otherFilter
)

// text is a string of the file, or the number of the object that is one. The zero text is none.
type text struct {
	raw    []byte
	isHex  bool
	isSet  bool
	object int
}

// frame is a dictionary or an array that is open.
type frame struct {
	isArray bool
	owner   key // its key in the dictionary around it
	key     key // whose value comes next
	last    key // whose value came last
	start   int // where it begins, behind its bracket

	action     action
	uri        text
	file       text // of a file specification, or of the action that has one
	base       text
	hasEncrypt bool

	isObjects, isXRef bool
	filter            filter
	isPredicted       bool
	n, first, length  int
}

// takeKey returns the key of the value that begins.
func (f *frame) takeKey() key {
	if f.isArray {
		return noKey
	}
	f.last, f.key = f.key, noKey
	return f.last
}

// depthMax is how deep dictionaries and arrays are followed. In deeper ones there are no links.
const depthMax = 32

// walker follows the nesting of the tokens of a file, or of one object of an object stream.
type walker struct {
	lexer
	links   *collector
	objects *unpacker // for the object streams of a file
	stack   [depthMax]frame
	depth   int
	excess  int    // open dictionaries and arrays that are too deep
	numbers [2]int // the last two
	top     frame  // the last dictionary of the object that is complete

	inStream   bool // in an object of an object stream, which has no keywords
	inObject   bool
	isTrailer  bool
	isComplete bool // a trailer was seen
	encrypted  bool
	security   int  // where the last encryption dictionary begins; 0 if there is none
	id         text // the identifier of the file, by the last trailer that has one
	topID      text // that of the dictionary at hand
}

// walk reads the tokens to the end.
func (w *walker) walk() {
	for {
		switch kind, text := w.next(); kind {
		case tokenEnd:
			w.closeAll()
			return
		case tokenWord:
			w.word(text)
		case tokenName:
			w.name(text)
		case tokenString, tokenHex:
			w.string(text, kind == tokenHex)
		case tokenOpenDict, tokenOpenArray:
			w.open(kind == tokenOpenArray)
		case tokenCloseDict:
			w.closeDict()
		case tokenCloseArray:
			w.closeArray()
		}
	}
}

// innermost returns the innermost frame that is followed; nil if there is none.
func (w *walker) innermost() *frame {
	if w.depth == 0 || w.excess > 0 {
		return nil
	}
	return &w.stack[w.depth-1]
}

// closeAll ends what is still open, since an object ends.
func (w *walker) closeAll() {
	for w.excess = 0; w.depth > 0; {
		w.pop()
	}
}

// begin begins an object, or the trailer.
func (w *walker) begin(inObject bool) {
	w.closeAll()
	w.top, w.topID, w.inObject, w.isTrailer = frame{}, text{}, inObject, !inObject
}

func (w *walker) open(isArray bool) {
	var owner key
	if f := w.innermost(); f != nil {
		owner = f.takeKey()
		if f.isArray {
			owner = f.owner
		}
	}
	if w.excess > 0 || w.depth == depthMax {
		w.excess++
		return
	}
	w.stack[w.depth] = frame{isArray: isArray, owner: owner, start: w.p}
	w.depth++
}

func (w *walker) closeArray() {
	switch {
	case w.excess > 0:
		w.excess--
	case w.depth > 0 && w.stack[w.depth-1].isArray:
		w.pop()
	}
}

// closeDict ends a dictionary, and arrays in it that were not closed.
func (w *walker) closeDict() {
	if w.excess > 0 {
		w.excess--
		return
	}
	for w.depth > 0 && w.stack[w.depth-1].isArray {
		w.pop()
	}
	if w.depth > 0 {
		w.pop()
	}
}

// pop ends the innermost frame, and hands on what it means.
func (w *walker) pop() {
	w.depth--
	f := &w.stack[w.depth]
	if w.depth > 0 {
		w.giveParent(&w.stack[w.depth-1], f)
	}
	if f.isArray {
		return
	}
	w.report(f)
	if w.depth == 0 {
		w.top = *f
		if w.isTrailer || f.isXRef {
			w.isComplete = true
			w.encrypted = w.encrypted || f.hasEncrypt
			if w.topID.isSet {
				w.id = w.topID
			}
		}
		w.isTrailer = false
	}
}

// giveParent gives what a value means to the dictionary around it.
func (w *walker) giveParent(parent, f *frame) {
	switch f.owner {
	case keyFilter:
		parent.filter = max(parent.filter, f.filter)
	case keyDecodeParms:
		parent.isPredicted = parent.isPredicted || f.isPredicted
	case keyF:
		if f.file.isSet {
			parent.file = f.file
		}
	}
}

// report hands on the link, the base or the file specification that a dictionary is.
func (w *walker) report(f *frame) {
	if !w.inObject {
		return
	}
	switch {
	case f.uri.isSet && (f.action == actionURI || f.action == noAction):
		w.links.add(&f.uri)
	case f.file.isSet && f.action == actionFile:
		w.links.add(&f.file)
	case f.base.isSet && (f.owner == keyURI || w.depth == 0):
		w.links.setBase(&f.base)
	case f.file.isSet && f.action == noAction && w.depth == 0:
		w.links.setValue(&f.file)
	}
}

func (w *walker) name(name []byte) {
	if len(name) < nameMax && bytes.IndexByte(name, '#') >= 0 {
		name = unescapeName(name)
	}
	f := w.innermost()
	switch {
	case f == nil:
	case f.isArray:
		if f.owner == keyFilter {
			f.filter = max(f.filter, filterOf(name))
		}
	case f.key == noKey:
		f.key = keyOf(name)
		f.hasEncrypt = f.hasEncrypt || f.key == keyEncrypt
	default:
		switch f.takeKey() {
		case keyS:
			f.action = actionOf(name)
		case keyType:
			f.isObjects, f.isXRef = string(name) == "ObjStm", string(name) == "XRef"
		case keyFilter:
			f.filter = filterOf(name)
			if string(name) == "Standard" {
				w.security = f.start
			}
		}
	}
}

func actionOf(name []byte) action {
	switch string(name) {
	case "URI":
		return actionURI
	case "GoToR", "Launch":
		return actionFile
	}
	return otherAction
}

func filterOf(name []byte) filter {
	if string(name) == "FlateDecode" || string(name) == "Fl" {
		return flateFilter
	}
	return otherFilter
}

func (w *walker) string(raw []byte, isHex bool) {
	value := text{raw: raw, isHex: isHex, isSet: true}
	f := w.innermost()
	if f == nil {
		if w.depth == 0 && w.inObject {
			w.links.setValue(&value)
		}
		return
	}
	if f.isArray && f.owner == keyID && w.depth == 2 && !w.topID.isSet {
		w.topID = value
	}
	f.setText(f.takeKey(), value)
}

// setText takes a string as the value of a key.
func (f *frame) setText(k key, value text) {
	switch k {
	case keyURI:
		f.uri = value
	case keyUF:
		f.file = value
	case keyF:
		if !f.file.isSet { // UF is the better one
			f.file = value
		}
	case keyBase:
		f.base = value
	}
}

func (w *walker) number(n int) {
	w.numbers[0], w.numbers[1] = w.numbers[1], n
	f := w.innermost()
	if f == nil || f.key == noKey {
		return
	}
	switch f.takeKey() {
	case keyLength:
		f.length = n
	case keyN:
		f.n = n
	case keyFirst:
		f.first = n
	case keyPredictor:
		f.isPredicted = n > 1
	}
}

// reference reads the R of "12 0 R": the value of the last key is the object with the last number but one.
func (w *walker) reference() {
	f := w.innermost()
	if f == nil || f.isArray {
		return
	}
	switch f.last {
	case keyLength:
		f.length = 0
	case keyURI, keyF, keyUF, keyBase:
		f.setText(f.last, text{object: w.numbers[0], isSet: true})
	}
	f.last = noKey
}

// word reads a number or a keyword. A keyword may be followed by the next number without a space.
func (w *walker) word(word []byte) {
	if n, ok := integerOf(word); ok {
		w.number(n)
		return
	}
	switch {
	case string(word) == "R":
		w.reference()
	case w.inStream:
		w.skipValue()
	case string(word) == "obj":
		w.begin(true)
		w.links.begin(w.numbers[0], w.numbers[1])
	case string(word) == "trailer":
		w.begin(false)
	case string(word) == "stream":
		w.closeAll()
		if data := w.streamData(w.top.length); w.top.isObjects && w.inObject {
			w.objects.unpack(&w.top, data)
		}
	case bytes.HasPrefix(word, []byte("endobj")):
		w.closeAll()
		w.inObject = false
		w.p -= len(word) - len("endobj")
	case bytes.HasPrefix(word, []byte("endstream")):
		w.p -= len(word) - len("endstream")
	default:
		w.skipValue()
	}
}

// skipValue takes a value that does not matter, such as true.
func (w *walker) skipValue() {
	if f := w.innermost(); f != nil && f.key != noKey {
		f.takeKey()
	}
}

// streamData returns the bytes of a stream whose keyword was read, and goes behind them. The length is believed if the
// keyword endstream follows.
func (w *walker) streamData(length int) []byte {
	start := w.p
	for start < len(w.b) && (w.b[start] == ' ' || w.b[start] == '\t') {
		start++
	}
	switch {
	case bytes.HasPrefix(w.b[start:], []byte("\r\n")):
		start += 2
	case bytes.HasPrefix(w.b[start:], []byte("\n")), bytes.HasPrefix(w.b[start:], []byte("\r")):
		start++
	default:
		start = w.p // these are bytes of the stream
	}
	data := w.b[start:]
	if length > 0 && length <= len(data) {
		behind := data[length:]
		for i := 0; i < 2 && len(behind) > 0 && class[behind[0]] == classSpace; i++ {
			behind = behind[1:]
		}
		if bytes.HasPrefix(behind, []byte("endstream")) {
			w.p = start + length
			return data[:length]
		}
	}
	end := bytes.Index(data, []byte("endstream"))
	if end < 0 {
		w.p = len(w.b)
		return data
	}
	w.p = start + end
	return data[:end]
}
