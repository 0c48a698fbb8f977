package h2

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"

	"orbweaver/internal/outcome"
)

const (
	fieldsMax        = 256 << 10 // bytes of a block of fields, packed and unpacked
	continuationsMax = 16        // CONTINUATION frames of one block
)

func tooLarge(cause string) error {
	return &Fault{Outcome: outcome.HeaderTooLarge, Cause: "h2: " + cause}
}

// fieldBlock unpacks a block of fields: the head of a response, or trailers.
type fieldBlock struct {
	decoder       *hpack.Decoder
	endsStream    bool
	continuations int
	packed, size  int    // bytes of the block, and of its fields by the count of RFC 9113, section 6.5.2
	status        int    // 0 if there is none
	lines         []byte // the status line and the fields, as in HTTP/1.1
	err           error
}

func (b *fieldBlock) init() {
	b.decoder = hpack.NewDecoder(tableMax, b.add)
	b.decoder.SetMaxStringLength(fieldsMax)
}

// start begins a block.
func (b *fieldBlock) start(endsStream bool) {
	*b = fieldBlock{decoder: b.decoder, endsStream: endsStream}
	b.decoder.SetEmitEnabled(true)
}

// decode unpacks a part of the block.
func (b *fieldBlock) decode(part []byte, isEnd bool) error {
	if b.packed += len(part); b.packed > fieldsMax {
		return tooLarge("head too large")
	}
	_, err := b.decoder.Write(part)
	if err == nil && isEnd {
		err = b.decoder.Close()
	}
	if err != nil && b.err == nil {
		return invalid("head that cannot be unpacked")
	}
	return b.err
}

// add takes one field.
func (b *fieldBlock) add(f hpack.HeaderField) {
	if b.size += int(f.Size()); b.size > fieldsMax {
		b.refuse(tooLarge("head too large"))
		return
	}
	switch {
	case f.Name == ":status":
		status, err := strconv.ParseUint(f.Value, 10, 16)
		if err != nil || len(f.Value) != 3 || len(b.lines) > 0 {
			b.refuse(invalid("invalid status"))
			return
		}
		b.status = int(status)
		b.lines = append(append(append(b.lines, "HTTP/1.1 "...), f.Value...), ' ')
		b.lines = append(append(b.lines, http.StatusText(b.status)...), "\r\n"...)
	case !httpguts.ValidHeaderFieldName(f.Name) || strings.ToLower(f.Name) != f.Name ||
		strings.ContainsAny(f.Value, "\r\n\x00"):
		b.refuse(invalid("invalid field")) // also other pseudo-headers
	case !isOfConnection(f.Name):
		b.lines = append(append(append(append(b.lines, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
}

// refuse ends the block with an error. The fields that follow in this part are not unpacked.
func (b *fieldBlock) refuse(err error) {
	b.err = err
	b.decoder.SetEmitEnabled(false)
}

// isOfConnection reports whether a field concerns a connection of HTTP/1.1, and has no place in HTTP/2.
func isOfConnection(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	default:
		return false
	}
}

// encodeRequest packs the head of a request.
func encodeRequest(e *hpack.Encoder, request []byte) {
	line, rest, _ := bytes.Cut(request, []byte("\r\n"))
	method, line, _ := bytes.Cut(line, []byte{' '})
	path, _, _ := bytes.Cut(line, []byte{' '})
	add := func(name, value string) { _ = e.WriteField(hpack.HeaderField{Name: name, Value: value}) }
	add(":method", string(method))
	add(":scheme", "https")
	eachField(rest, func(name, value []byte) {
		if string(name) == "host" {
			add(":authority", string(value))
		}
	})
	add(":path", string(path))
	eachField(rest, func(name, value []byte) {
		if string(name) != "host" && !isOfConnection(string(name)) {
			add(string(name), string(value))
		}
	})
}

// eachField calls f with the fields of a head that this program has written, names in lower case.
func eachField(lines []byte, f func(name, value []byte)) {
	for line := range bytes.SplitSeq(lines, []byte("\r\n")) {
		if name, value, found := bytes.Cut(line, []byte(": ")); found {
			f(bytes.ToLower(name), value)
		}
	}
}

// LowerNames writes the names of the fields of a request in lower case, as HTTP/2 has them.
func LowerNames(request []byte) {
	for line := range bytes.SplitSeq(request[bytes.IndexByte(request, '\n')+1:], []byte{'\n'}) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		copy(name, bytes.ToLower(name))
	}
}
