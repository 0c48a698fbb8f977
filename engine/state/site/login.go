package site

import "math"

// logIn is the log-in or consent page to which most URLs of a site redirect, and by how many they outnumber those that
// redirect to another one.
type logIn struct {
	target uint32 // a hash
	count  uint8
}

func logInOf(s *State) logIn {
	if s.rare == nil {
		return logIn{}
	}
	return s.rare.logIn
}

// logInLeast is how many URLs for each stored page must redirect to one log-in page to show that the site has nothing
// else for this crawler.
const logInLeast = 5

// NoteLogIn records that a URL redirects to the log-in or consent page with a hash. It reports whether the site has
// nothing else: at least logInLeast URLs redirect there, and as many for each page that the site has served. Each URL
// must be noted once. The count ends there, so pages that are served later change the answer.
func NoteLogIn(s *State, target uint32) bool {
	r, least := logInOf(s), logInLeast*max(int(s.Stored), 1)
	switch {
	case least > math.MaxUint8:
		return false
	case r.target != target && r.count > 0:
		r.count--
	case r.target != target:
		r = logIn{target: target, count: 1}
	case int(r.count) < least:
		r.count++
	}
	rare := rareFacts{}
	if s.rare != nil {
		rare = *s.rare
	}
	rare.logIn = r
	s.rare = &rare
	return r.target == target && int(r.count) >= least
}
