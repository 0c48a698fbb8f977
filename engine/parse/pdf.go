package parse

// scanPDF reports the links of a PDF file.
func (s *Scanner) scanPDF(body []byte) {
	links := &s.markup.elements.links
	links.text.charset = charsetState{} // the strings are UTF-8 already
	file := s.pdf.Scan(body)
	for _, ref := range file.Links {
		links.add(PDF, ref, false)
	}
	res := &links.res
	res.Base, res.IsEncrypted, res.StreamsUnread = file.Base, file.IsEncrypted, file.Unread
	res.LinksDropped += file.Dropped
	res.LinksLong += file.Long
}
