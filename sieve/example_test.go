package sieve_test

import (
	"fmt"

	"orbweaver/internal/vfs"
	"orbweaver/sieve"

	"github.com/zeebo/xxh3"
)

// Each URL is emitted once, in order of arrival. After a crash a crawl resumes from a checkpoint.
func Example() {
	fsys := vfs.NewMem(1)
	s, err := sieve.Open(fsys, sieve.Options{Dir: "frontier/sieve"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	add := func(url string) { s.Add(xxh3.HashString128(url), []byte(url)) }
	show := func(url []byte) error { _, err := fmt.Printf("new: %s\n", url); return err }

	add("http://b.example/")
	add("http://a.example/")
	add("http://b.example/")
	if _, err := s.Flush(show); err != nil {
		fmt.Println(err)
	}

	add("http://a.example/")
	add("http://c.example/")
	image, err := s.Snapshot()
	if err != nil {
		fmt.Println(err)
		return
	}
	cut, err := image.Write()
	if err == nil {
		err = s.Sync()
	}
	fmt.Println("cut:", cut.Generation, err)

	s, err = sieve.Open(fsys.KillClone(), sieve.Options{Dir: "frontier/sieve"}, &cut)
	if err != nil {
		fmt.Println(err)
		return
	}
	st, err := s.Flush(show)
	fmt.Println("known:", st.Known, err)
	// Output:
	// new: http://b.example/
	// new: http://a.example/
	// cut: 1 <nil>
	// new: http://c.example/
	// known: 1 <nil>
}
