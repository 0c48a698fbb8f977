package urlx

import (
	"bytes"
	"regexp"
	"slices"
)

// The session identifiers that index keys omit: of ASP.NET in paths; of Java, PHP, ASP and ColdFusion in queries. The
// tables are never changed.
var (
	pathSessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
		regexp.MustCompile(`^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	}
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

// cutPathSession removes a session identifier from an encoded, lower-case path.
func cutPathSession(path []byte) []byte {
	if !bytes.Contains(path, []byte(".aspx")) || bytes.IndexByte(path, '(') < 0 {
		return path
	}
	return cutSession(path, pathSessions)
}

// cutSession returns a copy of s in which each match is replaced by its two groups.
func cutSession(s []byte, sessions []*regexp.Regexp) []byte {
	cut := bytes.Clone(s) // a copy, since regexp would move s and the callers' scratch to the heap
	for _, re := range sessions {
		m := re.FindSubmatchIndex(cut)
		if m == nil {
			continue
		}
		var tail []byte
		if m[4] >= 0 {
			tail = cut[m[4]:m[5]]
		}
		cut = append(cut[:m[3]], tail...)
	}
	return cut
}

// appendQueryKey appends "?" and the key of a query; nothing if the query contains only a session identifier.
func appendQueryKey(dst, query []byte) []byte {
	var scratch [512]byte
	var encoded [1024]byte
	query = appendKeyEncoded(encoded[:0], unescapeAll(scratch[:0], query))
	for _, mark := range []string{"sid=", "sessionid", "cfid="} {
		if bytes.Contains(query, []byte(mark)) {
			query = cutSession(query, querySessions)
			break
		}
	}
	if len(query) == 0 {
		return dst
	}
	var few [32]span
	parameters := few[:0]
	for from := 0; from <= len(query); {
		to := from
		for to < len(query) && query[to] != '&' {
			to++
		}
		parameters = append(parameters, span{from, to})
		from = to + 1
	}
	slices.SortFunc(parameters, func(a, b span) int {
		return compareParameters(query[a.from:a.to], query[b.from:b.to])
	})
	separator := byte('?')
	for _, p := range parameters {
		dst = append(append(dst, separator), query[p.from:p.to]...)
		separator = '&'
	}
	return dst
}

// compareParameters orders by name; with equal names, those without a value come first, then by value.
func compareParameters(a, b []byte) int {
	nameA, valueA, hasA := bytes.Cut(a, []byte("="))
	nameB, valueB, hasB := bytes.Cut(b, []byte("="))
	if c := bytes.Compare(nameA, nameB); c != 0 {
		return c
	}
	if hasA != hasB {
		if hasB {
			return -1
		}
		return 1
	}
	return bytes.Compare(valueA, valueB)
}
