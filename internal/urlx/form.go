package urlx

import (
	"bytes"
	"slices"
	"strings"
)

// Form says in which form links are taken. Each form is a normal form, and the next one makes more URLs equal.
type Form uint8

// The forms, in the order of the words of --normal-form.
const (
	WHATWG  Form = iota // as the package describes it
	Sorted              // arguments of the query in the order of their bytes, and no empty query
	Archive             // the same without session identifiers (ParamsSession) and names of index pages
)

// String returns the form's name.
func (f Form) String() string { return [...]string{"whatwg", "sorted", "archive"}[f] }

// indexPages are names that servers give to the page of a folder, with a space before and behind each.
const indexPages = " index.html index.htm index.shtml index.php index.asp index.aspx index.jsp default.htm " +
	"default.html default.asp default.aspx "

// apply gives a normal form the form, in place, and returns it.
func (f Form) apply(url []byte) []byte {
	if f == WHATWG {
		return url
	}
	path, query, hasQuery := bytes.Cut(url, []byte{'?'})
	if hasQuery {
		arguments := bytes.Split(bytes.Clone(query), []byte{'&'})
		arguments = slices.DeleteFunc(arguments, func(one []byte) bool { return len(one) == 0 })
		slices.SortStableFunc(arguments, bytes.Compare)
		query = bytes.Join(arguments, []byte{'&'})
	}
	if slash := bytes.LastIndexByte(path, '/'); f == Archive && slash >= authority(path) {
		if name := path[slash+1:]; len(name) > 0 && strings.Contains(indexPages, " "+strings.ToLower(string(name))+" ") {
			path = path[:slash+1]
		}
	}
	if len(query) == 0 {
		return path
	}
	return append(append(url[:len(path)], '?'), query...)
}
