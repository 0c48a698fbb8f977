package warc

import "fmt"

// resume brings the directory to the Cut and the Writer behind it.
func (w *Writer) resume(cut *Cut) error {
	files, err := Files(w.fsys, w.o.Dir)
	if err != nil {
		return err
	}
	if cut == nil {
		if len(files) > 0 {
			return fmt.Errorf("%w: %s holds %d files of an archive already", ErrResume, w.o.Dir, len(files))
		}
		return nil
	}
	return w.resumeAt(*cut, files)
}

func (w *Writer) resumeAt(cut Cut, files []FileInfo) error {
	if len(files) == 0 && cut == (Cut{}) {
		return nil
	}
	return fmt.Errorf("%w: not yet", ErrResume)
}
