package pdflinks

import (
	"strconv"
	"strings"
)

// security has the values of the encryption dictionary of a file (ISO 32000-2, 7.6), by their paths in it, such as
// CF/StdCF/CFM.
type security map[string]string

const (
	securityMax   = 8 << 10 // bytes of the dictionary that are read
	securityDepth = 3       // of the dictionaries in it
)

// readSecurity reads a dictionary behind its opening brackets.
func readSecurity(b []byte) security {
	s, l := security{}, lexer{b: b[:min(len(b), securityMax)]}
	path := []string{""} // the keys whose values are being read; the last one is empty if a key comes next
	for {
		kind, token := l.next()
		last := &path[len(path)-1]
		switch {
		case kind == tokenOpenDict && len(path) < securityDepth:
			path = append(path, "")
		case kind == tokenCloseDict && len(path) > 1:
			path = path[:len(path)-1]
			path[len(path)-1] = ""
		case kind == tokenOpenDict, kind == tokenCloseDict, kind == tokenEnd:
			return s
		case kind == tokenName && *last == "":
			*last = string(token)
		default:
			s[strings.Join(path, "/")] = string(appendBytes(nil, &text{raw: token, isHex: kind == tokenHex}))
			*last = ""
		}
	}
}

// number returns an integer; 0 if there is none.
func (s security) number(path string) int {
	n, _ := strconv.Atoi(s[path])
	return n
}

// method returns how strings or streams are encrypted. path is that of the name of their crypt filter.
func (s security) method(path string) method {
	name := s[path]
	switch {
	case s.number("V") < 4:
		return byRC4
	case name == "", name == "Identity":
		return notEncrypted
	}
	switch s["CF/"+name+"/CFM"] {
	case "None":
		return notEncrypted
	case "V2":
		return byRC4
	case "AESV2":
		return byAES
	case "AESV3":
		return byAES256
	}
	return byUnknown
}
