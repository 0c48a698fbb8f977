package manual

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// toy is a small grammar with a command of each kind.
type toy struct {
	Config string `help:"File of settings." placeholder:"FILE"`
	Fetch  struct {
		Mode  string   `help:"How to fetch. Slow is polite." oneof:"fast,slow"`
		Seeds []string `help:"Seeds."`
		Quiet bool     `help:"Say nothing."`
		URLs  []string `arg:"" optional:""`
	} `cmd:"" help:"Fetch pages. There are many."`
	Show struct {
		Queue struct{} `cmd:"" help:"Show the queue."`
		Color struct {
			Name string `arg:"" oneof:"red,blue"`
		} `cmd:"" help:"Show a colour."`
	} `cmd:"" help:"Show things."`
	Set   assign `cmd:"" help:"Change settings."`
	Crawl struct {
		Mode  string `help:"How to crawl. Slow is polite." oneof:"fast,slow"`
		Delay string `help:"Time between requests."`
	} `cmd:"" hidden:"" help:"Crawl."`
	Secret struct{} `cmd:"" hidden:"" help:"Hidden."`
}

// assign is a command whose arguments are NAME=VALUE, by the names of flags of crawl.
type assign struct {
	Settings []string `arg:"" optional:""`
}

// Complete implements completer.
func (*assign) Complete(int) []string { return []string{"mode=", "delay="} }

func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(new(toy), kong.Name("toy"))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// What stands before the cursor decides which words are offered.
func TestCandidates(t *testing.T) {
	app := model(t)
	for _, c := range []struct{ line, want string }{
		{"", "fetch show set"},
		{"f", "fetch"},
		{"sec", ""},
		{"set ", "mode= delay="},
		{"set d", "delay="},
		{"set mode=", "mode=fast mode=slow"},
		{"set mode=s", "mode=slow"},
		{"set mode = s", "slow"},
		{"set mode =", "fast slow"},
		{"set mode=fast de", "delay="},
		{"set delay=", "delay="},
		{"set delay=4", ""},
		{"set nonsense=", ""},
		{"show ", "queue color"},
		{"show color ", "red blue"},
		{"show color r", "red"},
		{"show color red ", ""},
		{"fetch --", "--help --config --mode --seeds --quiet"},
		{"fetch --q", "--quiet"},
		{"fetch --quiet --q", ""},
		{"fetch --seeds a --s", "--seeds"},
		{"fetch --mode ", "fast slow"},
		{"fetch --mode s", "slow"},
		{"fetch --mode=", "--mode=fast --mode=slow"},
		{"fetch --mode=s", "--mode=slow"},
		{"fetch --mode = s", "slow"},
		{"fetch --mode =", "fast slow"},
		{"fetch --mode = slow --q", "--quiet"},
		{"fetch --config ", ""},
		{"fetch http://a.test/ --q", "--quiet"},
		{"fetch -- --q", ""},
		{"nonsense --mo", ""},
		{"fetch --nonsense --q", "--quiet"},
		{"fetch --nonsense=", ""},
	} {
		var words []string
		for _, candidate := range Candidates(app, strings.Split(c.line, " ")) {
			words = append(words, candidate.Word)
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
	if got := Candidates(app, nil); len(got) != 3 || got[0] != (Candidate{"fetch", "Fetch pages"}) {
		t.Errorf("without words: %v", got)
	}
}
