package pdflinks

import "orbweaver/internal/inflate"

// Options are the limits of a Scanner.
type Options struct {
	LinksMax int // links of a file; default 20,000
	RefMax   int // bytes of a reference; default 8 KiB
}

// Result is what a file has.
type Result struct {
	Links       [][]byte // references in UTF-8, not resolved, in the order of the file
	Base        []byte   // against which they are resolved; nil for the URL of the file
	IsEncrypted bool     // with a password, or in an unknown way: it has no Links
	Unread      int      // object streams that were not read, or not to their end
	Dropped     int      // links beyond the limits
	Long        int      // references that are longer than RefMax
}

// Scanner reads one file at a time, and reuses its memory.
type Scanner struct {
	links   collector
	objects unpacker
	file    walker
	res     Result
}

// NewScanner returns a Scanner.
func NewScanner(o Options) *Scanner {
	if o.LinksMax == 0 {
		o.LinksMax = 20_000
	}
	if o.RefMax == 0 {
		o.RefMax = 8 << 10
	}
	return &Scanner{links: collector{o: o}, objects: unpacker{decoder: inflate.NewDecoder()}}
}

// Scan finds the links of a file, or of its start.
func (s *Scanner) Scan(file []byte) *Result {
	s.objects.room = unpackMax
	s.read(file, decrypter{})
	w := &s.file
	isLocked := w.encrypted
	if w.encrypted && w.security > 0 {
		d, ok := newDecrypter(readSecurity(file[w.security:]), appendBytes(nil, &w.id))
		if isLocked = !ok; ok {
			s.read(file, d)
		}
	}
	s.res = Result{
		Links: s.res.Links[:0], IsEncrypted: isLocked,
		Unread: s.objects.unread, Dropped: s.links.dropped, Long: s.links.long,
	}
	if isLocked {
		s.res.Unread = 0
		return &s.res
	}
	s.res.Links, s.res.Base = s.links.appendLinks(s.res.Links), s.links.baseText()
	if !w.isComplete {
		s.keepASCII()
	}
	return &s.res
}

// read reads the file, also with what decrypts it.
func (s *Scanner) read(file []byte, d decrypter) {
	s.links.clear()
	s.links.decrypter = d
	s.objects.begin(&s.links)
	s.file = walker{lexer: lexer{b: file}, links: &s.links, objects: &s.objects}
	s.file.walk()
}

// keepASCII leaves the links without other characters, as URLs should be. Without a trailer nothing says whether the
// file is encrypted: then its strings are noise.
func (s *Scanner) keepASCII() {
	kept := s.res.Links[:0]
	for _, ref := range s.res.Links {
		if isPlain(ref) {
			kept = append(kept, ref)
		}
	}
	s.res.Links = kept
}

func isPlain(ref []byte) bool {
	for _, c := range ref {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
