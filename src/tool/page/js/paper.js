// What was chosen, in words: for paper, which has no controls that tell.

function chosenText(app, view) {
    const {state, log} = app;
    const pictures = ['flame', 'butterfly', 'tree'].includes(view);
    const framework = pictures && log.owner.includes(OWNER.FRAMEWORK);
    const lines = ['flame', 'tree'].includes(view) && app.hasLines;
    return [state.what === 'made' ? '' : WEIGHTS[state.what].title,
            VIEW_TITLES[view] + (view === 'tables' ? ', ' + TABLES[state.table].title.toLowerCase() : ''),
            view === 'flame' && state.mode !== 'flame' ? state.mode : '',
            view === 'tree' ? (state.tree === 'up' ? 'from types to their callers' : 'from Main') : '',
            framework ? (state.fold ? 'framework folded' : 'all frames') : '',
            lines ? (state.lines ? 'by line' : 'by method') : '',
            state.measure === 'bytes' ? 'bytes' : 'objects',
            ...selectedText(app, view)].filter(text => text);
}

// Which part of the log it is of.
function selectedText(app, view) {
    const {state, log} = app;
    const {head} = log;
    const thread = head.threads[state.thread];
    return [thread ? 'only thread ' + (thread.name || thread.id) : '',
            state.from === null ? '' : `only ${formatTime(state.from * head.slice_ns)} to ` +
                formatTime(Math.min(state.to * head.slice_ns, head.duration_ns)),
            view === 'tables' && state.rows ? `only rows with "${state.rows}"` : '',
            state.query ? `search "${state.query}"` : '', app.matchText()];
}
