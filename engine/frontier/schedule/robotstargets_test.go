package schedule

import (
	"fmt"
	"testing"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// toTarget is a redirect of the robots.txt of a host to a path of http://b.test.
func toTarget(host, path string) *site.RobotsRedirect {
	origin := []byte("http://" + host)
	it := queued.URL{RobotsOf: origin, Redirects: 1, Rest: []byte(path)}
	return &site.RobotsRedirect{Site: []byte("http://b.test"), Origin: origin, Item: queued.Append(nil, &it)}
}

var targetKey = []byte("http://b.test")

// One request answers all sites that wait for its URL. The next request of a busy site waits for its time; that of a
// site without URLs of its own does not.
func TestRobotsTargets_turns(t *testing.T) {
	targets, now := NewRobotsTargets(), time.Unix(1e9, 0)
	for _, r := range []*site.RobotsRedirect{
		toTarget("a1", "/x"), toTarget("a2", "/x"), toTarget("a2", "/x"), toTarget("a3", "/y"),
	} {
		if !targets.add(r, queued.MustDecode(r.Item).Rest) {
			t.Fatal("a redirect is refused")
		}
	}
	if targets.next(targetKey, true, now) == nil || targets.next(targetKey, false, now) != nil {
		t.Error("a busy site must get its first request at once, and no second one beside it")
	}
	answer := &robotsAnswer{rules: robots.AllowAll(), at: now}
	if ended := targets.endWait(targetKey, []byte("/x"), answer, now.Add(time.Minute)); len(ended) != 2 {
		t.Errorf("%d sites got the answer of /x, want 2", len(ended))
	}
	if a, known := targets.answerOf([]byte("http://b.test/x"), now.Add(59*time.Minute)); !known || a.rules == nil {
		t.Error("the answer is forgotten")
	}
	if _, known := targets.answerOf([]byte("http://b.test/x"), now.Add(time.Hour)); known {
		t.Error("the answer holds for too long")
	}
	if next, _ := targets.due(now.Add(59 * time.Second)); next != nil || targets.next(targetKey, true, now) != nil {
		t.Error("a busy site gets its second request too early")
	}
	if next, _ := targets.due(now.Add(time.Minute)); len(next) != 1 || targets.next(targetKey, false, now) == nil {
		t.Errorf("%q get a request, want the site", next)
	}
	if ended := targets.takeAll(targetKey); len(ended) != 1 || targets.waiting != 0 {
		t.Errorf("%d redirects were left, and %d are counted", len(ended), targets.waiting)
	}
}

// A site for which too many others wait does not take the room of the rest, and the memory of answers is bounded.
func TestRobotsTargets_areBounded(t *testing.T) {
	targets, now := NewRobotsTargets(), time.Unix(1e9, 0)
	taken := 0
	for i := range targetsPerSiteMax + 10 {
		path := fmt.Sprintf("/%d", i%5000)
		if targets.add(toTarget(fmt.Sprintf("a%d", i), path), []byte(path)) {
			taken++
		}
	}
	if taken != targetsPerSiteMax {
		t.Errorf("%d sites wait for one, want %d", taken, targetsPerSiteMax)
	}
	other := toTarget("a", "/")
	if other.Site = []byte("http://c.test"); !targets.add(other, []byte("/")) {
		t.Error("another site has no room left")
	}
	for i := range 3 * recentAnswersMax {
		targets.noteFailure(fmt.Appendf(nil, "http://a%d", i), now)
	}
	if n := len(targets.recent.young) + len(targets.recent.old); n > 2*recentAnswersMax {
		t.Errorf("%d answers are kept", n)
	}
	if !targets.hasFailed(fmt.Appendf(nil, "http://a%d", 3*recentAnswersMax-1), now) {
		t.Error("the last failure is forgotten")
	}
}
