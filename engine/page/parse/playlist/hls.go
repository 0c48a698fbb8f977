package playlist

import "bytes"

// filesMost is how many files a list may name: eight hours of segments of six seconds. --max-requisites-per-page has
// the same default.
const filesMost = 5000

// IsM3U reports whether a file begins like a list of HLS, or an M3U list that says what it is.
func IsM3U(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(b[:min(len(b), 16)], []byte("\xEF\xBB\xBF")), []byte("#EXTM3U"))
}

// M3U calls found for the references of an M3U list, or of one in the format PLS, which it borrows. isHLS says that
// they are parts of one video or sound, and not a choice of them, such as radio stations. dropped is the number of
// references beyond the limit.
func M3U(b []byte, found func(ref []byte, isHLS bool)) (dropped int) {
	isHLS := bytes.Contains(b, []byte("#EXT-X-"))
	files := 0
	var last []byte
	take := func(ref []byte) {
		switch ref = bytes.TrimSpace(ref); {
		case len(ref) == 0:
			return
		case bytes.Equal(ref, last): // the next part of the same file
		case bytes.Contains(ref, []byte("{$")): // of a variable
		case files == filesMost:
			dropped++
		default:
			files++
			found(ref, isHLS)
		}
		last = ref
	}
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	const pls = "[playlist]"
	isPLS := bytes.EqualFold(b[:min(len(b), len(pls))], []byte(pls))
	for len(b) > 0 {
		line := b
		if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		switch {
		case isPLS:
			if key, ref, _ := bytes.Cut(line, []byte("=")); len(key) > 4 && bytes.EqualFold(key[:4], []byte("file")) {
				take(ref)
			}
		case len(line) == 0 || line[0] != '#':
			take(line)
		case bytes.HasPrefix(line, []byte("#EXT-X-")):
			take(uriOf(line))
		}
	}
	return dropped
}

// uriOf returns the attribute URI of a tag; nil if it has none.
func uriOf(line []byte) []byte {
	_, list, _ := bytes.Cut(line, []byte(":"))
	for len(list) > 0 {
		name, rest, ok := bytes.Cut(list, []byte("="))
		if !ok {
			return nil
		}
		var value []byte
		if len(rest) > 0 && rest[0] == '"' {
			value, rest, _ = bytes.Cut(rest[1:], []byte(`"`))
			_, list, _ = bytes.Cut(rest, []byte(","))
		} else {
			value, list, _ = bytes.Cut(rest, []byte(","))
		}
		if string(bytes.TrimSpace(name)) == "URI" {
			return value
		}
	}
	return nil
}
