#include "export/formats.h"

#include "command/xml.h"

#include "export/zip.h"

#include "base/buffer.h"

#include <errno.h>
#include <string.h>

/* Source: microsoft/perfview, src/PerfView/OtherSources/XMLStackSource.cs. */

#define PIECE (64u * 1024)

struct perfview {
    const struct export_profile *p;
    struct zip *zip;
    struct buffer text; /* what the zip was not given yet */
};

static void give(struct perfview *w, size_t most)
{
    if (w->text.size <= most)
        return;
    zip_write(w->zip, w->text.data, w->text.size);
    w->text.size = 0;
}

/* "Module!Method", by which PerfView groups; no frame has an empty name. */
static void put_frames(struct perfview *w)
{
    const struct export_profile *p = w->p;

    buffer_format(&w->text, " <Frames Count=\"%zu\">\n", p->frame_count);
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct export_frame *frame = &p->frames[i];

        buffer_format(&w->text, "  <Frame ID=\"%zu\">", i);
        if (frame->kind == EXPORT_METHOD && frame->module != EXPORT_NO_MODULE) {
            xml_text(&w->text, p->modules[frame->module].name);
            buffer_char(&w->text, '!');
        }
        if (frame->kind == EXPORT_TYPE)
            buffer_text(&w->text, "Type ");
        xml_text(&w->text, frame->name);
        buffer_text(&w->text, "</Frame>\n");
        give(w, PIECE);
    }
    buffer_text(&w->text, " </Frames>\n");
}

/* A stack for each node but the root: its number is the node's less one, so the root's is -1. */
static void put_stacks(struct perfview *w)
{
    const struct export_profile *p = w->p;

    buffer_format(&w->text, " <Stacks Count=\"%zu\">\n", p->node_count - 1);
    for (size_t i = 1; i < p->node_count; i++) {
        buffer_format(&w->text, "  <Stack ID=\"%zu\" CallerID=\"%ld\" FrameID=\"%u\"/>\n", i - 1,
                      (long)p->nodes[i].parent - 1, p->nodes[i].frame);
        give(w, PIECE);
    }
    buffer_text(&w->text, " </Stacks>\n");
}

static void put_samples(struct perfview *w)
{
    const struct export_profile *p = w->p;

    buffer_format(&w->text, " <Samples Count=\"%zu\">\n", p->sample_count);
    for (size_t i = 0; i < p->sample_count; i++) {
        buffer_format(&w->text,
                      "  <Sample ID=\"%zu\" Time=\"0\" StackID=\"%ld\" Metric=\"%llu\"/>\n", i,
                      (long)p->samples[i].node - 1, (unsigned long long)p->samples[i].bytes);
        give(w, PIECE);
    }
    buffer_text(&w->text, " </Samples>\n");
}

/* PerfView shows it in the pane of notes. */
static void put_remarks(struct perfview *w)
{
    if (!w->p->remark_count)
        return;
    buffer_text(&w->text, "<Notes>");
    for (size_t i = 0; i < w->p->remark_count; i++) {
        xml_text(&w->text, w->p->remarks[i]);
        buffer_char(&w->text, '\n');
    }
    buffer_text(&w->text, "</Notes>\n");
}

int export_perfview(const struct export_profile *p, FILE *out)
{
    struct perfview w = {.p = p, .text = BUFFER_INIT};
    int err = zip_new(out, "allocations.perfView.xml", &w.zip);

    if (err)
        return err;
    buffer_text(&w.text, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<StackWindow>\n"
                         "<StackSource>\n");
    put_frames(&w);
    put_stacks(&w);
    put_samples(&w);
    buffer_text(&w.text, "</StackSource>\n");
    put_remarks(&w);
    buffer_text(&w.text, "</StackWindow>\n");
    give(&w, 0);
    err = w.text.failed ? -ENOMEM : zip_finish(w.zip);
    zip_free(w.zip);
    buffer_free(&w.text);
    return err;
}
