package site

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/golden"
	"orbweaver/internal/outcome"
)

// goldenSites are states with each field set.
func goldenSites() []State {
	now := time.Unix(1e9, 5)
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /a\n"), "orbweaver")
	var many State
	many.SetAddrs([]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")},
		netip.MustParseAddr("10.0.0.1"), now)
	many.SetRules(rules, now.Add(time.Hour))
	return []State{
		{}, many, New(rules, now, now),
		{
			Stored:        7,
			Failures:      -3,
			Slowdown:      200,
			RobotsTries:   -1,
			HasAnswered:   true,
			HasServedRoot: true,
			DenyAll:       true,
			Blocked:       true,
			DeadOutcome:   outcome.NameNotFound,
		},
		{
			rare: &rareFacts{
				failures: FailureStreak{
					FirstAt:      1e9,
					lastAt:       1e9 + 9,
					RetryAt:      2e9,
					Count:        300,
					NameFailures: 7,
					LastOutcome:  outcome.Refused,
				},
			},
		},
	}
}

// decodeGolden compares the states of a golden file with want.
func decodeGolden(t *testing.T, file []byte, want []State) {
	t.Helper()
	for _, want := range want {
		var one []byte
		one, file, _ = queued.CutBytes(file)
		if got, err := NewDecoder()(one); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
}

// The encoded states must equal the golden file, and must decode to the original values.
func TestGolden_sites(t *testing.T) {
	sites := goldenSites()
	sites[3].Errors, sites[3].KiB = 7, 1<<20
	sites[4].rare.failures.sinceProbe, sites[4].rare.failures.rootUnusable = 3, true
	sites[3].Requisites, sites[3].DeepRequisites = 1<<31+7, 9
	sites[4].rare.failures.RobotsFault = robots.FaultChunks
	var b []byte
	for i := range sites {
		b = queued.AppendBytes(b, Append(nil, &sites[i]))
	}
	const sum = "988bffb19da85716afe9a8dd32f1b0956d47372b764c7f392626e492124c85fa"
	decodeGolden(t, golden.Compare(t, "sites-8", sum, b), sites)
}

// Version 7 does not say why a robots.txt is not known.
func TestGolden_sitesOfVersion7(t *testing.T) {
	sites := goldenSites()
	sites[3].Errors, sites[3].KiB = 7, 1<<20
	sites[4].rare.failures.sinceProbe, sites[4].rare.failures.rootUnusable = 3, true
	sites[3].Requisites, sites[3].DeepRequisites = 1<<31+7, 9
	const sum = "9be7abdd9ca039baf7bcb753bc1747a94a98841a8c92525f27b4490be24989c2"
	decodeGolden(t, golden.Read(t, "sites-7", sum), sites)
}

// Version 6 does not count page requisites.
func TestGolden_sitesOfVersion6(t *testing.T) {
	sites := goldenSites()
	sites[3].Errors, sites[3].KiB = 7, 1<<20
	sites[4].rare.failures.sinceProbe, sites[4].rare.failures.rootUnusable = 3, true
	const sum = "819051374f67732564dce438fed5539920d92ab92635f518d65e70e88f4eaea8"
	decodeGolden(t, golden.Read(t, "sites-6", sum), sites)
}

// Version 5 does not say when a failing site was last asked for a proof.
func TestGolden_sitesOfVersion5(t *testing.T) {
	sites := goldenSites()
	sites[3].Errors, sites[3].KiB = 7, 1<<20
	const sum = "b19184353d62008f8030c6d7895497f21a094496915a72f803a3b9fcaf462f1a"
	decodeGolden(t, golden.Read(t, "sites-5", sum), sites)
}

// Version 4 has neither the failed exchanges of a site nor its bytes.
func TestGolden_sitesOfVersion4(t *testing.T) {
	const sum = "ef11b29f714b06b6792cab79a9ad3d19f668773b5348edfb5afe427d9b4e5c67"
	decodeGolden(t, golden.Read(t, "sites-4", sum), goldenSites())
}
