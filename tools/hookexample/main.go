// Command hookexample is a program for --hook page=CMD: it finds addresses in the comments of pages, as
// docs/hook-comments.py does.
//
//	main: reads a page, writes its answer, until the input ends
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

type page struct {
	ID   uint64 `json:"id"`
	Type string `json:"type"`
}

type answer struct {
	Version int                `json:"v"`
	ID      uint64             `json:"id"`
	Links   []string           `json:"links"`
	Counts  map[string]float64 `json:"counts"`
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		err := answerPage(in, out)
		if errors.Is(err, io.EOF) {
			return // there are no more pages
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// answerPage reads one frame and writes one.
func answerPage(in io.Reader, out *bufio.Writer) error {
	var lengths [2]uint32 // of head and body
	if err := binary.Read(in, binary.BigEndian, &lengths); err != nil {
		return err
	}
	frame := make([]byte, lengths[0]+lengths[1])
	if _, err := io.ReadFull(in, frame); err != nil {
		return err
	}
	var p page
	if err := json.Unmarshal(frame[:lengths[0]], &p); err != nil {
		return err
	}
	a := answer{Version: 1, ID: p.ID, Links: []string{}, Counts: map[string]float64{}}
	if p.Type == "text/html" {
		a.find(frame[lengths[0]:])
	}
	head, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = out.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), 0, 0, 0, 0))
	if err != nil {
		return err
	}
	if _, err := out.Write(head); err != nil {
		return err
	}
	return out.Flush()
}

// find finds the addresses in the comments of a page.
func (a *answer) find(body []byte) {
	comment, address := regexp.MustCompile(`(?s)<!--.*?-->`), regexp.MustCompile(`https?://[!-~]+`)
	for _, c := range comment.FindAll(body, -1) {
		a.Counts["pages_with_comments"] = 1
		for _, url := range address.FindAll(c, -1) {
			a.Links = append(a.Links, string(url))
		}
	}
}
