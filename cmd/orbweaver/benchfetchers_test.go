package main

import (
	"strings"
	"testing"
)

func TestSimTakesSeveralProxies(t *testing.T) {
	r := call("sim", "--hosts", "2", "--proxy", "127.0.0.1:0", "--proxy", "192.0.2.1:80")
	if !strings.Contains(r.err, "served on loopback only") {
		t.Errorf("the second proxy was not looked at: %+v", r)
	}
}
