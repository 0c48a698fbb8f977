package invariants

import "testing"

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// The same test for both builds: a violation panics only if the checks are on.
func TestChecks(t *testing.T) {
	Check(true, "holds")
	if got := panics(func() { Check(false, "does not hold") }); got != Enabled {
		t.Errorf("a failed check panicked: %v, checks enabled: %v", got, Enabled)
	}
	b := []byte("abc")
	Mangle(b)
	if got := string(b) == "\xcc\xcc\xcc"; got != Enabled {
		t.Errorf("mangled: %v, checks enabled: %v", got, Enabled)
	}
	var c CloseChecker
	c.AssertOpen()
	c.MarkClosed()
	if got := panics(c.AssertOpen); got != Enabled {
		t.Errorf("use after close panicked: %v, checks enabled: %v", got, Enabled)
	}
	if got := panics(c.MarkClosed); got != Enabled {
		t.Errorf("second close panicked: %v, checks enabled: %v", got, Enabled)
	}
}
