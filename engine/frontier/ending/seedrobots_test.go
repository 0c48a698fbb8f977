package ending

import (
	"slices"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/attempt"
	"orbweaver/internal/outcome"
)

// The robots.txt of a seed that is answered and not known has its own cause and remedy, whatever the outcome of its
// exchange is: the server runs.
func TestSeedWarnings_robotsThatIsNotKnown(t *testing.T) {
	for _, o := range []outcome.Outcome{outcome.Protocol, outcome.OK, outcome.NotModified} {
		var said []any
		w := SeedWarnings{Warn: func(_ string, args ...any) { said = args }}
		a := attempt.Attempt{URL: []byte("http://a.test/robots.txt"), IsRobots: true, Outcome: o}
		a.RobotsFault = robots.FaultChunks
		w.NoteAttempt(&fetch.Page{Status: 200}, &a, nil)
		cause := "robots.txt: chunked body without a valid size"
		if !slices.Contains(said, any(cause)) || !slices.Contains(said, any(robotsRemedy)) {
			t.Errorf("%v: the log says %v", o, said)
		}
	}
}
