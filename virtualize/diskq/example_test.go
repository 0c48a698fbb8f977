package diskq_test

import (
	"fmt"

	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// A queue, a checkpoint, and how to open it after a kill.
func Example() {
	disk := vfs.NewMem(1)
	options := diskq.Options{Dir: "frontier/ready"}
	q, err := diskq.Open(disk, options, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		if err := q.Append([]byte(url)); err != nil {
			fmt.Println(err)
		}
	}
	item, _, err := q.Read(nil)
	fmt.Println(string(item), err)
	cut, err := q.Checkpoint()
	if err != nil {
		fmt.Println(err)
	}
	item, _, err = q.Read(item[:0])
	fmt.Println(string(item), err)

	back, err := diskq.Open(disk.KillClone(), options, &cut)
	if err != nil {
		fmt.Println(err)
		return
	}
	item, _, err = back.Read(item[:0])
	fmt.Println(string(item), err, "and", back.Len(), "more")
	// Output:
	// http://a.example/ <nil>
	// http://b.example/ <nil>
	// http://b.example/ <nil> and 1 more
}
