package receivers

import (
	"strings"
	"testing"

	"orbweaver/engine/store/receipts"
)

// A receipt in a directory of another person names a store. The keys of the environment sign nothing for it, and the
// error says how to trust it. Stores of Amazon, of this machine and those that the user has named are asked.
func TestObjects_askNoStoreOfAReceipt(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "https://store.test/")
	o := NewObjects(t.Context(), "1", "https://named.test:9000")
	defer o.Close()
	for target, isAsked := range map[string]bool{
		"https://s3.eu-central-1.amazonaws.com/b/p": true, "http://127.0.0.1:9000/b/p": true, "https://store.test/b/p": true,
		"https://named.test:9000/b/p": true, "http://foreign.test/b/p": false, "https://amazonaws.com.test/b/p": false,
		"http://s3.amazonaws.com/b/p": false, "https://named.test/b/p": false, "http://store.test/b/p": false, "/b/p": false,
	} {
		if endpoint, _, _ := strings.Cut(strings.TrimPrefix(target, "://"), "/b/"); o.isTrusted(endpoint) != isAsked {
			t.Errorf("%s: trusted is %t", target, !isAsked)
		}
	}
	_, err := o.OpenObject(&receipts.ElsewhereError{Receipt: receipts.Receipt{Target: "http://foreign.test/b/p"}}, 0, 1)
	if err == nil || !strings.Contains(err.Error(), "set AWS_ENDPOINT_URL=http://foreign.test if you trust it") {
		t.Errorf("%v", err)
	}
}
