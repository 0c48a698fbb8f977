package warctool

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"orbweaver/internal/textfile"
	"orbweaver/warc/lookup"
)

// Part is what Get writes of a capture.
type Part uint8

// The parts: the payload without content encodings, with them, the HTTP head, the whole WARC record.
const (
	Payload Part = iota
	EncodedPayload
	Headers
	WholeRecord
)

// GetOptions select a capture and what is written of it.
type GetOptions struct {
	URL  string
	At   time.Time // the closest capture; the last one if zero
	Part Part
	// SizeMax is the most bytes of a payload that are written. Default 1 GiB.
	SizeMax int64
}

// nearMost is how many other URLs an error names.
const nearMost = 5

// Get writes the capture of a URL to Out, and to Err what the reader should know of it. A revisit has the payload of
// the record that it refers to. The error wraps lookup.ErrNoCapture if there is none, and names URLs that are near.
func Get(ctx context.Context, t *Tool, a *lookup.Archive, o GetOptions) error {
	if o.SizeMax == 0 {
		o.SizeMax = 1 << 30
	}
	c, err := a.Closest(ctx, o.URL, o.At)
	if errors.Is(err, lookup.ErrNoCapture) {
		return notFound(ctx, a, o.URL)
	}
	if err != nil {
		return err
	}
	if key, url, err := lookup.KeyOf([]byte(o.URL)); err == nil && string(url) != string(c.URL) {
		fmt.Fprintf(t.Err, "this is %s, which has the same key in the index: %s\n", textfile.Plain(string(c.URL)),
			textfile.Plain(string(key)))
	}
	if !o.At.IsZero() && !c.Time().Equal(o.At) {
		fmt.Fprintf(t.Err, "the closest capture is of %s\n", c.Time().Format(time.RFC3339))
	}
	if o.Part == WholeRecord {
		rec, err := a.Open(c)
		if err != nil {
			return err
		}
		return errors.Join(copyRecord(t.Out, rec.RecordRead), rec.Close())
	}
	page, err := a.Read(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(writePage(t, page, o), page.Close())
}

// notFound says that a URL is not there, and what is.
func notFound(ctx context.Context, a *lookup.Archive, url string) error {
	near, err := a.Near(ctx, url, nearMost)
	if err != nil {
		return err
	}
	text := ""
	for _, u := range near {
		text += "\n  " + textfile.Plain(u)
	}
	if text == "" {
		return fmt.Errorf("%w of %s, nor of its host", lookup.ErrNoCapture, url)
	}
	return fmt.Errorf("%w of %s; near it are:%s", lookup.ErrNoCapture, url, text)
}

func writePage(t *Tool, p *lookup.Page, o GetOptions) error {
	if p.Truncated != "" {
		fmt.Fprintf(t.Err, "the payload was truncated (%s)\n", textfile.Plain(p.Truncated))
	}
	if status := p.Head.Status; status != 0 && status/100 != 2 {
		fmt.Fprintf(t.Err, "the server answered with status %d\n", status)
		if to := p.Head.Get("Location"); to != "" {
			fmt.Fprintf(t.Err, "it redirects to %s\n", textfile.Plain(to))
		}
	}
	if t.JSON {
		return writeObject(t, p, o)
	}
	if o.Part == Headers {
		_, err := t.Out.Write(p.Head.Raw)
		return err
	}
	return copyPage(t.Out, p, o)
}

// copyPage writes a payload.
func copyPage(out io.Writer, p *lookup.Page, o GetOptions) error {
	body := p.Body
	if o.Part != EncodedPayload {
		decoded, done, err := lookup.DecodePayload(body, p.Encoding)
		if err != nil {
			return fmt.Errorf("%w; --encoded writes it as it is", err)
		}
		defer done()
		if body = decoded; p.Encoding != "" {
			body = p.Bounded(decoded)
		}
	}
	n, err := io.Copy(out, io.LimitReader(body, o.SizeMax))
	if err == nil && n == o.SizeMax {
		if more, _ := io.ReadFull(body, make([]byte, 1)); more > 0 {
			err = fmt.Errorf("the payload is larger than %d bytes", o.SizeMax)
		}
	}
	return err
}

// pageRow is a capture in JSON.
type pageRow struct {
	URL      string              `json:"url"`
	Time     string              `json:"timestamp"`
	Status   int                 `json:"status,omitempty"`
	Revisit  bool                `json:"revisit,omitempty"`
	File     string              `json:"filename"`
	Offset   int64               `json:"offset"`
	Fields   []map[string]string `json:"headers,omitempty"`
	Encoding string              `json:"encoding,omitempty"` // of the payload: utf-8 or base64
	Payload  string              `json:"payload,omitempty"`
}

// writeObject writes a capture as an object in JSON. With Headers it has no payload.
func writeObject(t *Tool, p *lookup.Page, o GetOptions) error {
	c := p.Capture
	row := pageRow{
		URL: string(c.URL), Time: c.Stamp, Status: p.Head.Status, Revisit: c.Revisit, File: string(c.File), Offset: c.Offset,
	}
	for _, f := range p.Head.Fields {
		row.Fields = append(row.Fields, map[string]string{f.Name: f.Value})
	}
	if o.Part != Headers {
		var b bytes.Buffer
		o.SizeMax = min(o.SizeMax, jsonMax)
		if err := copyPage(&b, p, o); err != nil {
			return err
		}
		row.Encoding, row.Payload = "utf-8", b.String()
		if !utf8.Valid(b.Bytes()) {
			row.Encoding, row.Payload = "base64", base64.StdEncoding.EncodeToString(b.Bytes())
		}
	}
	return t.emit(row)
}
