// What keys do, and how to read the page.

const KEYS = [
    ['/', 'search; what matches is marked in every view'],
    ['1 … 7', 'the views, in their order'],
    ['arrows', 'move in the picture, the tree and the tables'],
    ['Enter', 'zoom to the box; open the row'],
    ['Escape', 'zoom out; leave the search'],
    ['c', 'copy the stack of the box or row'],
    ['b', 'bytes or objects'],
    ['f', 'fold the framework, or show all frames'],
    ['*', 'in the tree: open the heaviest path'],
    ['?', 'this help'],
];

const NOTES = [
    'A box is as wide as what is allocated in its frame and in all that the frame calls. Types are the last boxes. ' +
    'Frames of own code are set in bold.',
    'Self is what a frame allocates itself; total has what it calls. A method that is on a stack twice counts once.',
    'Drag over the time line to see only what was allocated in that range; all views and tables follow.',
    'Of a log recorded with --live, all views are also of what is alive, was, has grown or died: chosen beside the threads, and told ' +
    'below the time line. Alive means that no collection has found it dead.',
    'View, zoom, range, search and filters are in the address: bookmark it, or send it with the file.',
    'Nothing leaves this file: it makes no request, and its content policy forbids any.',
];

function makeHelp() {
    const close = button('Close', '', () => dialog.close());
    const dialog = el('dialog', {class: 'help', 'aria-label': 'Help'}, el('h2', {}, 'Help'),
        el('dl', {class: 'keys'}, ...KEYS.flatMap(([key, text]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)])),
        ...NOTES.map(text => el('p', {}, text)), close);
    document.body.append(dialog);
    return dialog;
}
