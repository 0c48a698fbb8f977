package cdxj

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RequestMost is how many bytes of the body of a request are read for its key.
const RequestMost = 64 << 10

// requestQueryMost is the length in bytes at which what a body becomes is cut, as cdxj-indexer does.
const requestQueryMost = 4096

// RequestQuery returns the parameters that the body of a request other than GET becomes in the key of its answer, as
// pywb and ReplayWeb.page have them. So does cdxj-indexer, except that it has True for true. A form becomes its fields,
// JSON its values by their innermost names, anything else base64. The body is cut at RequestMost.
func RequestQuery(contentType string, body []byte) string {
	body = body[:min(len(body), RequestMost)]
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	}
	query, ok := "", true
	switch {
	case media == "application/x-www-form-urlencoded":
		query, ok = unescapePlus(body), utf8.Valid(body)
	case strings.HasPrefix(media, "multipart/"):
		query, ok = multipartQuery(body, parameters["boundary"])
	case media == "application/json":
		query, _ = jsonQuery(body) // what is no JSON has no parameters
	case media == "text/plain":
		query, ok = jsonQuery(body)
	default:
		ok = false
	}
	if !ok && len(body) > 0 {
		query = "__wb_post_data=" + base64.StdEncoding.EncodeToString(body)
	}
	return query[:min(len(query), requestQueryMost)]
}

// unescapePlus decodes escapes, and plus signs to spaces. A wrong escape stays.
func unescapePlus(body []byte) string {
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '+' {
			c = ' '
		} else if c == '%' && i+2 < len(body) {
			if one, err := url.PathUnescape(string(body[i : i+3])); err == nil {
				c = one[0]
				i += 2
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// multipartQuery returns the parts of a form by their names.
func multipartQuery(body []byte, boundary string) (query string, ok bool) {
	if boundary == "" {
		return "", false
	}
	var b strings.Builder
	for parts := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := parts.NextRawPart()
		if err != nil {
			return b.String(), err == io.EOF || b.Len() > 0 //nolint:errorlint // NextRawPart's own word
		}
		value, _ := io.ReadAll(part) // as far as the body goes
		addParameter(&b, part.FormName(), string(value))
	}
}

func addParameter(b *strings.Builder, name, value string) {
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value))
}

// jsonQuery returns the values of an object in JSON, or of several in lines, by their innermost names. A name that is
// used again has a number.
func jsonQuery(body []byte) (query string, ok bool) {
	var b strings.Builder
	used := map[string]int{}
	add := func(name, value string) {
		if used[name]++; used[name] > 1 {
			name = fmt.Sprintf("%s.%d_", name, used[name])
		}
		addParameter(&b, name, value)
	}
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	for ok = false; ; ok = true {
		err := jsonValue(in, "", add, 0)
		if err == io.EOF { //nolint:errorlint // the decoder's own word
			return b.String(), ok
		}
		if err != nil {
			return "", false
		}
	}
}

// jsonDepthMost is how deep the values of a body may lie.
const jsonDepthMost = 100

// jsonValue calls add with the plain values in the next value, in their order.
func jsonValue(in *json.Decoder, name string, add func(name, value string), depth int) error {
	token, err := in.Token()
	if err != nil {
		return err
	}
	delimiter, isNested := token.(json.Delim)
	if !isNested {
		if name != "" {
			add(name, plainValue(token))
		}
		return nil
	}
	if depth == jsonDepthMost {
		return fmt.Errorf("JSON deeper than %d", jsonDepthMost)
	}
	for in.More() {
		inside := name
		if delimiter == '{' {
			key, err := in.Token()
			if err != nil {
				return err
			}
			inside, _ = key.(string)
		}
		if err := jsonValue(in, inside, add, depth+1); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// plainValue is a value of JSON as JavaScript prints it, and pywb: 44.0 is 44.
func plainValue(token json.Token) string {
	switch v := token.(type) {
	case nil:
		return "null"
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return fmt.Sprint(token)
}
