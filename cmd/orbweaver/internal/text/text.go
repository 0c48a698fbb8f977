package text

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/urlx"
)

// URLCommand is the command url.
type URLCommand struct {
	Normalize urlNormalizeCmd `cmd:"" help:"Read URL or URL<tab>BASE from stdin; print the normal form, or ! and the reason."`
}

// Help shows an example.
func (*URLCommand) Help() string {
	return "Example:\n  echo 'HTTP://Example.COM/a/../b' | orbweaver url normalize"
}

type urlNormalizeCmd struct {
	JSON bool `help:"Print one JSON object for each line: its url, or the error."`
}

// normalized is a line of url normalize as JSON.
type normalized struct {
	Line  string `json:"line"`
	URL   string `json:"url,omitempty"`
	Error string `json:"error,omitempty"`
}

// Help shows an example.
func (*urlNormalizeCmd) Help() string {
	return "The normal form is the WHATWG serialisation without fragment and user information.\n\n" +
		"Example:\n  printf 'HTTP://Example.COM:80/a/../b#c\\n' | orbweaver url normalize"
}

// Run normalises line by line.
func (c *urlNormalizeCmd) Run(inv *command.Invocation) error {
	in, out := command.Lines(inv), bufio.NewWriter(inv.Stdout)
	objects := lineEncoder(out)
	for in.Scan() {
		raw, base, relative := bytes.Cut(in.Raw(), []byte{'\t'})
		var url []byte
		var err error
		if relative {
			if base, err = urlx.Normalize(nil, base); err == nil {
				url, err = urlx.Resolve(nil, base, raw)
			}
		} else {
			url, err = urlx.Normalize(nil, raw)
		}
		switch {
		case c.JSON && err != nil:
			err = objects.Encode(normalized{Line: string(in.Raw()), Error: urlx.Reason(err)})
		case c.JSON:
			err = objects.Encode(normalized{Line: string(in.Raw()), URL: string(url)})
		case err != nil:
			_, err = fmt.Fprintf(out, "! %s\n", urlx.Reason(err))
		default:
			_, err = fmt.Fprintf(out, "%s\n", url)
		}
		if err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	return out.Flush()
}

// RobotsCommand is the command robots.
type RobotsCommand struct {
	Test robotsTestCmd `cmd:"" help:"Read URLs from stdin; print allow or disallow and the deciding line."`
}

// Help shows an example.
func (*RobotsCommand) Help() string {
	return "Example:\n  echo https://example.org/private/ | orbweaver robots test --robots robots.txt"
}

type robotsTestCmd struct {
	Agent  string `help:"Product token of the robot." default:"orbweaver" placeholder:"TOKEN"`
	Robots string `help:"The robots.txt." required:"" placeholder:"FILE"`
	JSON   bool   `help:"Print one JSON object for each URL."`
}

// Help shows an example.
func (*robotsTestCmd) Help() string {
	return `The rules are those of RFC 9309. A line is a URL, or a path that begins with a slash. A crawl asks for the
normal form of a URL, which url normalize prints. A URL with characters beyond ASCII must also be allowed in
the form given here.

Example:
  echo https://example.org/private/ | orbweaver robots test --agent orbweaver --robots robots.txt`
}

// judged is a URL of robots test as JSON.
type judged struct {
	URL     string `json:"url"`
	Allowed bool   `json:"allowed"`
	Line    int    `json:"line,omitempty"` // of the robots.txt
	Rule    string `json:"rule,omitempty"`
	Error   string `json:"error,omitempty"`
}

// lineEncoder writes one object on each line.
func lineEncoder(out io.Writer) *json.Encoder {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e
}

// Run tests line by line.
func (c *robotsTestCmd) Run(inv *command.Invocation) error {
	body, err := os.ReadFile(c.Robots)
	if err != nil {
		return fmt.Errorf("--robots: %w", err)
	}
	rules := robots.Parse(body, c.Agent)
	in, out := command.Lines(inv), bufio.NewWriter(inv.Stdout)
	objects := lineEncoder(out)
	for in.Scan() {
		v, err := rules.ExplainURL(in.Raw())
		if c.JSON {
			verdict := judged{URL: string(in.Raw()), Allowed: err == nil && v.Allowed, Line: v.Line, Rule: v.Rule}
			if err != nil {
				verdict.Error = urlx.Reason(err)
			}
			if err := objects.Encode(verdict); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			fmt.Fprintf(out, "! %s\n", urlx.Reason(err))
			continue
		}
		verdict := "disallow"
		if v.Allowed {
			verdict = "allow"
		}
		if v.Line > 0 {
			fmt.Fprintf(out, "%s\tline %d: %s\n", verdict, v.Line, command.PlainText(v.Rule))
		} else {
			fmt.Fprintf(out, "%s\tno rule matches\n", verdict)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	return out.Flush()
}

// LinksCommand is the command links.
type LinksCommand struct {
	Base        string `help:"URL of the document." required:"" placeholder:"URL"`
	ContentType string `help:"Its Content-Type." default:"text/html" placeholder:"TYPE"`
	JSON        bool   `help:"Print one JSON object a link: url, kind, nofollow."`
	Kinds       bool   `help:"Print the kind before each link, as --follow knows it."`
	Speculative bool   `help:"Print strings of scripts and JSON that look like URLs, too."`
	File        string `arg:"" help:"The document." placeholder:"FILE"`
}

// Help shows an example.
func (*LinksCommand) Help() string {
	return `Example:
  orbweaver links --base https://example.org/dir/ --content-type 'text/html; charset=utf-8' page.html`
}

// Run prints the links, resolved, one a line.
func (c *LinksCommand) Run(inv *command.Invocation) error {
	url, err := urlx.Normalize(nil, []byte(c.Base))
	if err != nil {
		return command.Misuse(fmt.Errorf("--base: %q: %s", c.Base, urlx.Reason(err)))
	}
	body, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	res, err := parse.NewScanner(parse.Options{Speculative: c.Speculative, PDF: true}).Scan(body, []byte(c.ContentType))
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	switch {
	case res.IsEncrypted:
		fmt.Fprintf(inv.Stderr, "orbweaver: %s: it is encrypted, so its links are not known\n", c.File)
	case res.StreamsUnread > 0:
		fmt.Fprintf(inv.Stderr, "orbweaver: %s: parts are damaged or too large, so some links may be missing\n", c.File)
	}
	base, _ := urlx.Base(nil, url, res.Base)
	out := bufio.NewWriter(inv.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, l := range res.Links {
		link, err := urlx.Resolve(nil, base, l.Ref)
		if err != nil {
			fmt.Fprintf(inv.Stderr, "orbweaver: %q: %s\n", l.Ref, urlx.Reason(err))
			continue
		}
		if !c.JSON {
			if c.Kinds {
				fmt.Fprintf(out, "%-11s ", l.Kind)
			}
			fmt.Fprintf(out, "%s\n", link)
			continue
		}
		err = encoder.Encode(struct {
			URL      string `json:"url"`
			Kind     string `json:"kind"`
			NoFollow bool   `json:"nofollow"`
		}{string(link), l.Kind.String(), l.NoFollow})
		if err != nil {
			return err
		}
	}
	return out.Flush()
}
