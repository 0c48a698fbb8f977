package lookup

import (
	"bytes"
	"fmt"

	"orbweaver/internal/urlx"
	"orbweaver/warc/cdxj"
)

// Range is a range of index lines: From <= line < To, by their bytes.
type Range struct{ From, To []byte }

// KeyOf returns the key of a URL in an index. URLs that are not of the web, such as urn:, are their own keys.
func KeyOf(raw []byte) (key, url []byte, err error) {
	url, err = urlx.Normalize(nil, raw)
	if err == nil {
		return urlx.SURT(nil, url), url, nil
	}
	if scheme, _, ok := bytes.Cut(raw, []byte(":")); ok && len(scheme) > 0 && !bytes.ContainsAny(raw, " \t\r\n") &&
		string(scheme) != "http" && string(scheme) != "https" {
		return cdxj.AppendKey(nil, raw), raw, nil
	}
	return nil, nil, fmt.Errorf("%.200q: %s", raw, urlx.Reason(err))
}

// Exact is the range of the lines with this key.
func Exact(key []byte) Range { return Range{join(key, " "), join(key, "!")} }

// Prefix is the range of the lines whose keys begin so.
func Prefix(key []byte) Range { return Range{bytes.Clone(key), after(key)} }

// Host is the range of the host of a key.
func Host(key []byte) Range { return Prefix(join(hostOf(key), ")/")) }

// Domain is the range of the host of a key, and of all hosts below it. Those with a port in their key are not in it.
func Domain(key []byte) Range {
	host := hostOf(key)
	return Range{join(host, ")"), join(host, "-")} // "," of a host below it is between them
}

func hostOf(key []byte) []byte {
	host, _, _ := bytes.Cut(key, []byte(")"))
	return host
}

func join(key []byte, end string) []byte { return append(bytes.Clone(key), end...) }

// after returns the first line behind all lines that begin with prefix.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return []byte{0xff, 0xff, 0xff, 0xff} // no line is UTF-8 there
}
