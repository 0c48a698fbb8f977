package control

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"orbweaver/engine/operate/changes"
)

// errParameter says that a parameter of a request is unknown or wrong.
var errParameter = errors.New("control: parameter")

// set changes settings, one a line: all or none.
func (h *handler) set(w http.ResponseWriter, r *http.Request, in *text) {
	wanted, err := requestOf(r)
	if err == nil {
		wanted.Settings, err = in.all()
	}
	if err != nil {
		refuse(w, err)
		return
	}
	result, err := h.crawl.ChangeSettings(r.Context(), wanted)
	answerChange(w, &wanted, result, err)
}

// undo takes the last change of settings back.
func (h *handler) undo(w http.ResponseWriter, r *http.Request) {
	wanted, err := requestOf(r)
	if err != nil {
		refuse(w, err)
		return
	}
	result, err := h.crawl.UndoSettings(r.Context(), wanted)
	answerChange(w, &wanted, result, err)
}

// requestOf reads the parameters yes, dry-run and why, and says whose request it is.
func requestOf(r *http.Request) (wanted changes.Request, err error) {
	wanted.By = clientName(r)
	for key, values := range r.URL.Query() {
		value := values[0]
		switch key {
		case "yes":
			wanted.Yes, err = flagOf(key, value)
		case "dry-run":
			wanted.DryRun, err = flagOf(key, value)
		case "why":
			wanted.Why = fmt.Sprintf("%.1000s", value)
		default:
			err = fmt.Errorf("%w: %.80q is not one of yes, dry-run and why", errParameter, key)
		}
		if err != nil {
			return wanted, err
		}
	}
	return wanted, nil
}

func flagOf(key, value string) (bool, error) {
	switch value {
	case "true", "1", "":
		return true, nil
	case "false", "0":
		return false, nil
	default:
		return false, fmt.Errorf("%w: %s is %.80q, and not true or false", errParameter, key, value)
	}
}

func answerChange(w http.ResponseWriter, wanted *changes.Request, result changes.Result, err error) {
	message := strings.Join(ChangeLines(&result, err == nil && !wanted.DryRun), "; ")
	if message == "" && err == nil {
		message = "nothing has changed: the settings have these values already"
	}
	if err == nil {
		answer(w, Reply{Message: message, Change: result})
		return
	}
	answerWith(w, statusOf(err), Reply{Message: message, Error: shortened(err), Change: result})
}

// ChangeLines say what a change of settings has done, or would do.
func ChangeLines(result *changes.Result, isDone bool) (said []string) {
	verb := "would be"
	if isDone {
		verb = "is now"
	}
	for _, c := range result.Changed {
		text := fmt.Sprintf("%s %s %.2000s, was %.2000s", c.Name, verb, named(c.To), named(c.From))
		switch {
		case c.IsRead && isDone:
			text = fmt.Sprintf("%s: %.2000s is read again: %d rules", c.Name, c.To, c.Rules)
		case c.IsRead:
			text = fmt.Sprintf("%s: %.2000s would be read again: %d rules", c.Name, c.To, c.Rules)
		case c.From == c.To:
			text = fmt.Sprintf("%s is %.2000s as before", c.Name, named(c.To))
		}
		said = append(said, text)
	}
	if result.Drops != nil {
		said = append(said, dropsMessage(result.Drops))
	}
	return said
}

// named is a value as it is shown.
func named(value string) string {
	if value == "" {
		return "empty"
	}
	return value
}

// dropsMessage says how many queued URLs a change drops.
func dropsMessage(d *changes.Drops) string {
	said := fmt.Sprintf("%d of %d queued URLs are dropped", d.Dropped, d.Queued)
	if !d.Complete || d.Looked < d.Queued {
		said = fmt.Sprintf("%d of the %d queued URLs that were looked at are dropped, of %d queued in all",
			d.Dropped, d.Looked, d.Queued)
	}
	if len(d.Some) > 0 {
		said += ", such as " + fmt.Sprintf("%.300s", d.Some[0])
	}
	return said
}
