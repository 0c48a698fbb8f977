package crawl

import (
	"log/slog"

	"orbweaver/engine/operate/changes"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/cli/summary"
	"orbweaver/internal/options"
)

// logOptions are what the crawl writes to standard error.
type logOptions struct {
	LogLevel  string `help:"Least level of log lines on standard error: debug, info, warn or error." oneof:"debug,info,warn,error" default:"info" placeholder:"LEVEL"`
	LogFormat string `help:"Log lines on standard error: text, or json with one object on each line." oneof:"text,json" default:"text" placeholder:"FORMAT"`
	Progress  string `help:"Progress line: auto, plain or none. auto updates one line on a terminal." oneof:"auto,plain,none" default:"auto" placeholder:"MODE"`
	Quiet     bool   `help:"Print warnings and errors only: no progress line and no summary at the end."`
}

// newLog returns the log of a crawl, which goes to out, and its level as a setting that can be changed.
func (o *logOptions) newLog(out *console.Output) (*slog.Logger, changes.Own) {
	level := new(slog.LevelVar)
	set := func(word string) {
		l := slog.LevelInfo
		_ = l.UnmarshalText([]byte(word)) // another word is told as a fault of --log-level
		if o.Quiet {
			l = max(l, slog.LevelWarn)
		}
		level.Set(l)
	}
	set(o.LogLevel)
	handler := slog.HandlerOptions{Level: level}
	var lines slog.Handler = slog.NewTextHandler(out, &handler)
	if o.LogFormat == "json" {
		lines = slog.NewJSONHandler(out, &handler)
	}
	return slog.New(newRepeatLimit(lines)), changes.Own{
		Target: o, Name: "log-level", Set: func(v options.Setting) { set(v.Text()) },
	}
}

// progress is the mode of the progress line.
func (o *logOptions) progress() string {
	if o.Quiet {
		return summary.ProgressNone
	}
	return o.Progress
}
