package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// resultsDir holds rows, diaries and raw outputs. Names of raw outputs begin with a date, names of rows with a letter.
const resultsDir = "bench/results"

// diaryLines is the length of a page.
const diaryLines = 64

// A row is one line of the table, as bench/results/NAME.json has it.
type row struct {
	Row     int      `json:"row"` // the place in the table, from 1
	What    string   `json:"what"`
	Command string   `json:"command"`
	Commit  string   `json:"commit"`  // or presentTree
	Machine string   `json:"machine"` // the same for all rows
	Beside  string   `json:"beside"`  // what else ran on the machine, or "not recorded"
	Figures []figure `json:"figures"`
	Raw     string   `json:"raw"` // the file with the raw output, from the root

	// When it was measured; empty: the date in the name of the raw output.
	Measured string `json:"measured,omitempty"`
	// The folders of the code that was measured; empty: the whole product.
	Code []string `json:"code,omitempty"`

	name string
	old  bool // so much of the code was replaced since that the figures say nothing of the present tree
}

// presentTree is the commit of figures that a test compares with the tree.
const presentTree = "the present tree"

// A figure is one measured value. Its goal, if it has one, is one of the two limits.
type figure struct {
	Name     string      `json:"name"`
	Value    json.Number `json:"value"` // with as many digits as were measured
	Unit     string      `json:"unit,omitempty"`
	AtMost   json.Number `json:"at_most,omitempty"`
	AtLeast  json.Number `json:"at_least,omitempty"`
	GoalDate string      `json:"goal_date,omitempty"` // when the goal was last changed, such as "27 Nov"
}

// readRows reads all rows below root, in the order of the table, and reports everything that is wrong with them.
func readRows(root fs.FS) ([]row, error) {
	names, err := fs.Glob(root, path.Join(resultsDir, "[a-z]*.json"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no rows: run this from the root of the repository", resultsDir)
	}
	var rows []row
	var faults []error
	for _, name := range names {
		r, err := readRow(root, name)
		if err == nil {
			err = r.check(root)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.Row, b.Row) })
	for i, r := range rows {
		if r.Row != i+1 {
			faults = append(faults, fmt.Errorf("%s.json: row is %d, want %d: rows are numbered from 1", r.name, r.Row, i+1))
		}
		if r.Machine != rows[0].Machine {
			faults = append(faults, fmt.Errorf("%s.json: the machine differs from that of %s.json", r.name, rows[0].name))
		}
	}
	return rows, errors.Join(faults...)
}

func readRow(root fs.FS, name string) (row, error) {
	r := row{name: strings.TrimSuffix(path.Base(name), ".json")}
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return r, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	return r, in.Decode(&r)
}

// check reports empty fields, missing files, a diary of more than a page, and figures that the diary does not have.
func (r row) check(root fs.FS) error {
	var faults []error
	for field, value := range map[string]string{
		"what": r.What, "command": r.Command, "commit": r.Commit, "machine": r.Machine, "beside": r.Beside,
	} {
		if value == "" || strings.ContainsAny(value, "|\n") {
			faults = append(faults, fmt.Errorf("%s is %q: want one line without |", field, value))
		}
	}
	if len(r.Figures) == 0 {
		faults = append(faults, errors.New("there are no figures"))
	}
	if r.measured() == "" {
		faults = append(faults, errors.New("there is no date: set measured, or begin the name of the raw output with it"))
	}
	if info, err := fs.Stat(root, r.Raw); err != nil || !info.Mode().IsRegular() {
		faults = append(faults, fmt.Errorf("the raw output %q is missing", r.Raw))
	}
	diary, err := fs.ReadFile(root, path.Join(resultsDir, r.name+".md"))
	if err != nil {
		return errors.Join(append(faults, fmt.Errorf("the diary is missing: %w", err))...)
	}
	if lines := bytes.Count(diary, []byte("\n")); lines > diaryLines {
		faults = append(faults, fmt.Errorf("the diary has %d lines, at most %d", lines, diaryLines))
	}
	if !bytes.Contains(diary, []byte(path.Base(r.Raw))) {
		faults = append(faults, fmt.Errorf("the diary does not name the raw output %s", r.Raw))
	}
	for _, f := range r.Figures {
		if err := f.check(string(diary)); err != nil {
			faults = append(faults, fmt.Errorf("figure %q: %w", f.Name, err))
		}
	}
	return errors.Join(faults...)
}

// measured returns the date of the figures, empty if it is not known.
func (r row) measured() string {
	if r.Measured != "" {
		return r.Measured
	}
	return regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`).FindString(path.Base(r.Raw))
}

func (f figure) check(diary string) error {
	if f.Name == "" || f.Value == "" {
		return errors.New("name or value is missing")
	}
	if f.AtMost != "" && f.AtLeast != "" {
		return errors.New("it has two limits")
	}
	if _, err := f.met(); err != nil {
		return err
	}
	for _, text := range []string{f.Value.String(), grouped(f.Value)} {
		if regexp.MustCompile(`(^|[^0-9.,])` + regexp.QuoteMeta(text) + `($|[^0-9.,]|[.,]([^0-9]|$))`).MatchString(diary) {
			return nil
		}
	}
	return fmt.Errorf("the diary does not have the value %s", f.Value)
}

// met reports whether the figure keeps its limit. It is true without one.
func (f figure) met() (bool, error) {
	value, err := f.Value.Float64()
	if err != nil {
		return false, err
	}
	met := true
	if f.AtMost != "" {
		most, err := f.AtMost.Float64()
		if err != nil {
			return false, err
		}
		met = value <= most
	}
	if f.AtLeast != "" {
		least, err := f.AtLeast.Float64()
		if err != nil {
			return false, err
		}
		met = met && value >= least
	}
	return met, nil
}

// grouped writes a number with commas between groups of three digits.
func grouped(n json.Number) string {
	whole, fraction, found := strings.Cut(n.String(), ".")
	if _, err := strconv.ParseUint(whole, 10, 64); err != nil {
		return n.String()
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		whole += "." + fraction
	}
	return whole
}
