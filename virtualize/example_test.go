package virtualize_test

import (
	"fmt"

	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

// Two queues in one log, a checkpoint, and how to open it after a kill.
func Example() {
	disk := vfs.NewMem(1)
	options := virtualize.Options{Dir: "frontier/virtual"}
	v, err := virtualize.Open(disk, options, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	const siteA, siteB = 17, 4711
	for _, path := range []string{"/", "/about", "/contact"} {
		if err := v.Append(siteA, []byte(path)); err != nil {
			fmt.Println(err)
		}
	}
	if err := v.Append(siteB, []byte("/index.html")); err != nil {
		fmt.Println(err)
	}
	if _, err := v.Take(siteA, 1, func(item []byte) { fmt.Printf("taken: %s\n", item) }); err != nil {
		fmt.Println(err)
	}
	image, err := v.Snapshot()
	if err != nil {
		fmt.Println(err)
		return
	}
	cut, err := image.Write()
	if err != nil {
		fmt.Println(err)
	}
	if _, err := v.Drop(siteA); err != nil {
		fmt.Println(err)
	}

	back, err := virtualize.Open(disk.KillClone(), options, &cut)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Len(siteA), "and", back.Len(siteB), "items are back")
	if _, err := back.Take(siteA, 10, func(item []byte) { fmt.Printf("taken: %s\n", item) }); err != nil {
		fmt.Println(err)
	}
	// Output:
	// taken: /
	// 2 and 1 items are back
	// taken: /about
	// taken: /contact
}
