"""The frame around every page: navigation, project and run, and what is running now."""

from pathlib import Path

import streamlit as st

from dashboard import sidebar, startup, state

HERE = Path(__file__).parent

st.set_page_config(page_title="crowdcore", page_icon=str(HERE / "icon.png"), layout="wide")
st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.png"))

start = startup.begin(state.workspace().root)
prepare = [
    st.Page("views/data.py", title="Data", icon=":material/table_view:", default=True),
    st.Page("views/run.py", title="Run", icon=":material/play_circle:"),
]
results = [
    st.Page("views/truths.py", title="Truths", icon=":material/task_alt:"),
    st.Page("views/workers.py", title="Workers", icon=":material/groups:"),
    st.Page("views/attention.py", title="Attention", icon=":material/hub:"),
    st.Page("views/spectral.py", title="Spectral space", icon=":material/scatter_plot:"),
    st.Page("views/completion.py", title="Completion", icon=":material/grid_on:"),
]
share = [st.Page("views/export.py", title="Export", icon=":material/download:")]
page = st.navigation({"Prepare": prepare, "Results": results, "Share": share})

if problem := state.settle(pin_run=page not in prepare):
    st.toast(problem, icon=":material/link_off:", duration="long")
sidebar.draw(start)
if not start.is_alive() and not startup.wake_jobs(state.workspace()):
    st.error(
        "The process that runs methods could not be started, so queued runs wait. "
        "The file workerd.log in the workspace folder says why.",
        icon=":material/error:",
    )
page.run()
