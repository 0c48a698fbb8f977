package robotsanswer

import (
	"fmt"
	"testing"
)

// Two robots.txt files redirect to one URL. Its first answer is that of the first file; what is only looked at stays.
// Beyond the limit, a redirect is not followed.
func TestChains_giveAnswersInOrder(t *testing.T) {
	c := Chains[string]{Seed: 7}
	url := []byte("http://a.test/rules")
	if _, ok := c.Take(url); ok {
		t.Error("an answer is expected before any redirect")
	}
	c.Expect(url, "first")
	c.Expect(url, "second")
	for _, want := range []string{"first", "second"} {
		if of, ok := c.Find(url); !ok || of != want {
			t.Errorf("found %q, want %q", of, want)
		}
		if of, ok := c.Take(url); !ok || of != want {
			t.Errorf("took %q, want %q", of, want)
		}
	}
	if _, ok := c.Find(url); ok || c.count != 0 || len(c.expected) != 0 {
		t.Errorf("%d answers are still expected", c.count)
	}
	for i := range chainsMax + 1 {
		c.Expect(fmt.Append(nil, "http://b.test/", i), "")
	}
	if _, ok := c.Find(fmt.Append(nil, "http://b.test/", chainsMax)); ok {
		t.Error("a redirect beyond the limit is followed")
	}
}
