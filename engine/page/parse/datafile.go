package parse

import (
	"bytes"

	"orbweaver/engine/page/parse/jsonlinks"
	"orbweaver/engine/page/parse/playlist"
	"orbweaver/engine/page/parse/script"
)

// dataFormat returns the format of a body that is neither markup nor a style sheet.
func (s *Scanner) dataFormat(body []byte, media mediaType) Format {
	switch {
	case playlist.IsM3U(body), media.isPlaylist() && isTextual(body[:min(len(body), identifyMost)]):
		return PlaylistFile
	case media.isJSON() && jsonlinks.FormatOf(body, media.isManifest()) != jsonlinks.None:
		return DataFile
	case s.o.PDF && media.isPDF():
		return PDFFile
	case s.o.Speculative && (media.isScript() || media.isJSON() || media.isRichText()):
		return ScriptFile
	}
	return None
}

// scanM3U reports the parts of a video or sound as page requisites, and what another list offers as links.
func (s *Scanner) scanM3U(body []byte) {
	links := &s.markup.elements.links
	links.text.work += len(body)
	links.res.LinksDropped += playlist.M3U(body, func(ref []byte, isHLS bool) {
		kind := LinkRel
		if isHLS {
			kind = Media
		}
		links.addBytes(kind, ref)
	})
}

// scanDASH reports the parts of a video or sound, if the body, which is XML, is a list of them.
func (s *Scanner) scanDASH(body []byte) bool {
	const start = 1 << 10
	if !bytes.Contains(body[:min(len(body), start)], []byte("MPD")) {
		return false
	}
	links := &s.markup.elements.links
	if links.text.charset.decoder != nil {
		body = links.text.decodeWhole(body)
	}
	dropped, ok := playlist.DASH(body, func(ref []byte) { links.addBytes(Media, ref) })
	if ok {
		links.text.work += len(body)
		links.res.Format, links.res.LinksDropped = PlaylistFile, links.res.LinksDropped+dropped
	}
	return ok
}

// scanData reports the links of a manifest or a feed in JSON.
func (s *Scanner) scanData(body []byte, media mediaType) {
	links := &s.markup.elements.links
	links.text.work += len(body)
	format, page, room := jsonlinks.FormatOf(body, media.isManifest()), LinkRel, feedMarkupMax
	if format == jsonlinks.Feed {
		links.res.Format, page = FeedFile, Feed
	}
	jsonlinks.Read(body, format, func(kind jsonlinks.Kind, text []byte) {
		switch kind {
		case jsonlinks.Page:
			links.addBytes(page, text)
		case jsonlinks.Image:
			links.addBytes(Image, text)
		case jsonlinks.Media:
			links.addBytes(Media, text)
		case jsonlinks.Markup:
			text = text[:min(len(text), room)]
			room -= len(text)
			s.markup.scanHidden(text, false)
		}
	})
	if s.o.Speculative {
		links.scanScript(body, script.File)
	}
}

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

// addBytes reports a reference that has no character references.
func (l *linkList) addBytes(kind Kind, ref []byte) {
	l.text.asUTF8 = true
	if !plain(ref) {
		ref = l.text.keep(l.text.toUTF8(ref))
	}
	l.add(kind, ref, false)
}
